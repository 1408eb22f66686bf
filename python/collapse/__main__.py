"""python -m collapse: the program."""

from ._program import main

main()
