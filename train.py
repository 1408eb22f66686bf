# more
# more
