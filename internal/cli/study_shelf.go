package cli

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

type studyRenameCmd struct {
	Old string `arg:"" name:"study" complete:"studies" help:"Name of the study."`
	New string `arg:"" name:"name" help:"Its new name."`
}

// named is the line of a study's file that has its name.
var named = regexp.MustCompile(`(?m)^([ \t]*name[ \t]*=[ \t]*)("[^"\n]*"|'[^'\n]*')`)

func (c *studyRenameCmd) Run(a *app, lab *store.Lab) error {
	if err := study.CheckName(c.New); err != nil {
		return usageError{err}
	}
	s, err := lab.Study(c.Old)
	if err != nil {
		return err
	}
	source := s.Source
	if at := named.FindStringSubmatchIndex(source); at != nil && strings.Trim(source[at[4]:at[5]], `"'`) == c.Old {
		source = source[:at[4]] + strconv.Quote(c.New) + source[at[5]:]
	}
	if err := lab.RenameStudy(c.Old, c.New, source); err != nil {
		return err
	}
	switch {
	case source != s.Source:
		a.notef("write the new name into its file, too: computed again, the file makes a study %s\n", c.Old)
	case s.Source != "" && !recipe.Trains(strings.SplitN(c.Old, ".", 2)[0]):
		a.notef("write name = %q under [study] of its file, too: computed again, the file makes a study %s\n", c.New, c.Old)
	}
	return a.emit(map[string]string{"old": c.Old, "study": c.New}, func() { a.printf("%s is now called %s\n", c.Old, c.New) })
}

type studyTagCmd struct {
	Study  string   `arg:"" name:"study" complete:"studies" help:"Name of the study."`
	Tags   []string `arg:"" name:"tag" optional:"" help:"Tags to add, separated by blanks or commas. Without any, and without --remove, its tags are printed."`
	Remove []string `placeholder:"TAG" help:"Tags to take away, separated by commas."`
}

func (c *studyTagCmd) Run(a *app, lab *store.Lab) error {
	var add []string
	for _, words := range c.Tags {
		add = append(add, strings.Split(words, ",")...)
	}
	before, err := lab.StudyTags()
	if err != nil {
		return err
	}
	for _, tag := range c.Remove {
		if !slices.Contains(before[c.Study], tag) {
			a.notef("%s has no tag %s\n", c.Study, tag)
		}
	}
	if err := lab.TagStudy(c.Study, add, c.Remove); err != nil {
		return err
	}
	tags, err := lab.StudyTags()
	if err != nil {
		return err
	}
	return a.emit(map[string]any{"study": c.Study, "tags": append([]string{}, tags[c.Study]...)}, func() {
		if len(tags[c.Study]) == 0 {
			a.printf("%s has no tags\n", c.Study)
			return
		}
		a.printf("%s: %s\n", c.Study, strings.Join(tags[c.Study], ", "))
	})
}

type studyArchiveCmd struct {
	Names []string `arg:"" name:"study" complete:"studies" help:"Names of studies (see collapse study list)."`
	Undo  bool     `help:"Bring them back into lists."`
}

func (c *studyArchiveCmd) Run(a *app, lab *store.Lab) error {
	for _, name := range c.Names { // before archiving any, so that a misspelt name changes nothing
		if _, err := lab.Study(name); err != nil {
			return err
		}
	}
	for _, name := range c.Names {
		if err := lab.ArchiveStudy(name, !c.Undo); err != nil {
			return err
		}
	}
	return a.emit(map[string]any{"studies": c.Names, "archived": !c.Undo}, func() {
		if c.Undo {
			a.printf("%s: in lists again\n", strings.Join(c.Names, ", "))
			return
		}
		a.printf("%s: archived; lists leave out what is archived, runs and pages stay. %s undoes it\n", strings.Join(c.Names, ", "), a.next("study archive --undo "+strings.Join(c.Names, " ")))
	})
}
