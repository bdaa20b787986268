// Which files of a Go tree each platform builds, by go/build, and their definitions. conflicts_go.py runs it.
//
//	go run tests/quality/conflicts_truth.go list ROOT PLATFORMS
//	go run tests/quality/conflicts_truth.go check ROOT PLATFORMS < pairs of file and condition, tab-separated
//
// PLATFORMS are GOOS/GOARCH, comma-separated. `list` prints, for each file that is no test and that a platform builds
// without cgo, a line `file`, path, package, numbers of these platforms; and for each package-level definition, except
// for `init` and `_`, a line `def`, path, line, kind, name, owner. `check` prints, per pair, the path, whether the condition
// holds exactly where the file is built (over all platforms, with and without cgo and each other tag), and the file's own
// condition.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const maxTags = 8 // of one file that are tried in all combinations

var root string
var platforms [][2]string

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: go run conflicts_truth.go list|check ROOT PLATFORMS")
		os.Exit(2)
	}
	root, _ = filepath.EvalSymlinks(os.Args[2])
	for _, platform := range strings.Split(os.Args[3], ",") {
		goos, arch, _ := strings.Cut(platform, "/")
		platforms = append(platforms, [2]string{goos, arch})
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if os.Args[1] == "check" {
		check(out)
		return
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		list(out, path)
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse(path string, mode parser.Mode) (*token.FileSet, *ast.File) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution|mode)
	if err != nil {
		return nil, nil
	}
	return set, file
}

func usesCgo(file *ast.File) bool {
	for _, spec := range file.Imports {
		if spec.Path.Value == `"C"` {
			return true
		}
	}
	return false
}

// context is that of one build; the file system is the real one, or one whose every file has the given text.
func context(platform [2]string, cgo bool, tags []string, text string) build.Context {
	made := build.Default
	made.GOOS, made.GOARCH, made.Compiler = platform[0], platform[1], "gc"
	made.CgoEnabled, made.BuildTags = cgo, tags
	if text != "" {
		made.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	}
	return made
}

func list(out io.Writer, path string) {
	set, file := parse(path, 0)
	if file == nil || usesCgo(file) {
		return
	}
	var built []string
	for number, platform := range platforms {
		made := context(platform, false, nil, "")
		if ok, _ := made.MatchFile(filepath.Dir(path), filepath.Base(path)); ok {
			built = append(built, fmt.Sprint(number))
		}
	}
	if built == nil {
		return
	}
	short, _ := filepath.Rel(root, path)
	fmt.Fprintf(out, "file\t%s\t%s\t%s\n", short, file.Name.Name, strings.Join(built, ","))
	put := func(kind string, name *ast.Ident, owner string) {
		if name.Name != "_" && (name.Name != "init" || kind != "function") {
			fmt.Fprintf(out, "def\t%s\t%d\t%s\t%s\t%s\n", short, set.PositionFor(name.Pos(), false).Line, kind, name.Name, owner)
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				put("function", decl.Name, "")
			} else if len(decl.Recv.List) > 0 {
				put("method", decl.Name, receiver(decl.Recv.List[0].Type))
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					put("type", spec.Name, "")
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						put(decl.Tok.String(), name, "")
					}
				}
			}
		}
	}
}

// receiver names the type of a method: List for *List[K, V].
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.ParenExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return "?"
}

func check(out io.Writer) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		short, condition, _ := strings.Cut(lines.Text(), "\t")
		path := filepath.Join(root, short)
		_, file := parse(path, parser.ParseComments|parser.ImportsOnly)
		if file == nil {
			continue
		}
		text, tags := written(path, file)
		fmt.Fprintf(out, "%s\t%v\t%s\n", short, equal(path, usesCgo(file), condition, tags), text)
	}
}

// equal says whether a condition holds in exactly the builds that include the file.
func equal(path string, cgo bool, condition string, tags []string) bool {
	ours := "package p\n"
	if condition != "" {
		x, err := constraint.Parse("//go:build " + condition)
		if err != nil {
			return false
		}
		ours = "//go:build " + condition + "\n\npackage p\n"
		x.Eval(func(tag string) bool { tags = append(tags, tag); return true })
	}
	free := freeTags(tags)
	for chosen := 0; chosen < 1<<len(free); chosen++ {
		var set []string
		for bit, tag := range free {
			if chosen>>bit&1 == 1 {
				set = append(set, tag)
			}
		}
		for _, platform := range platforms {
			for _, with := range []bool{false, true} {
				real, mine := context(platform, with, set, ""), context(platform, with, set, ours)
				built, _ := real.MatchFile(filepath.Dir(path), filepath.Base(path))
				holds, _ := mine.MatchFile(".", "p.go")
				if (built && (with || !cgo)) != holds {
					return false
				}
			}
		}
	}
	return true
}

// freeTags are the tags that do not depend on the platform.
func freeTags(tags []string) []string {
	seen := map[string]bool{"cgo": true, "gc": true, "unix": true}
	for _, platform := range platforms {
		seen[platform[0]], seen[platform[1]] = true, true
	}
	var free []string
	for _, tag := range tags {
		if !seen[tag] && len(free) < maxTags {
			seen[tag] = true
			free = append(free, tag)
		}
	}
	sort.Strings(free)
	return free
}

// written is the condition of a file as text, from its name, its go:build line and cgo, each part once; and its tags.
func written(path string, file *ast.File) (string, []string) {
	var parts, tags []string
	add := func(part string) {
		for _, other := range parts {
			if other == part {
				return
			}
		}
		parts = append(parts, part)
	}
	words := strings.Split(strings.SplitN(filepath.Base(path), ".", 2)[0], "_")[1:]
	if n := len(words); n > 1 && isSystem(words[n-2]) && isArch(words[n-1]) {
		add(words[n-2])
		add(words[n-1])
	} else if n > 0 && (isSystem(words[n-1]) || isArch(words[n-1])) {
		add(words[n-1])
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if comment.Pos() > file.Package || !constraint.IsGoBuild(comment.Text) {
				continue
			}
			x, err := constraint.Parse(comment.Text)
			if err != nil {
				continue
			}
			x.Eval(func(tag string) bool { tags = append(tags, tag); return true })
			for _, part := range conjuncts(x) {
				add(part)
			}
		}
	}
	if usesCgo(file) {
		add("cgo")
	}
	if len(parts) > 1 {
		for i, part := range parts {
			if x, err := constraint.Parse("//go:build " + part); err == nil {
				if _, loose := x.(*constraint.OrExpr); loose {
					parts[i] = "(" + part + ")"
				}
			}
		}
	}
	return strings.Join(parts, " && "), tags
}

func conjuncts(x constraint.Expr) []string {
	if and, ok := x.(*constraint.AndExpr); ok {
		return append(conjuncts(and.X), conjuncts(and.Y)...)
	}
	return []string{x.String()}
}

// isSystem and isArch say whether go/build takes a word in a file's name for an operating system, or an architecture:
// only with it is the word that stands beside it of no consequence.
func isSystem(word string) bool {
	return !builds("?", "amd64", "x_"+word+"_amd64.go")
}

func isArch(word string) bool {
	return !builds("linux", "?", "x_linux_"+word+".go") && !builds(word, "?", "x_linux_"+word+".go")
}

func builds(goos, arch, name string) bool {
	made := context([2]string{goos, arch}, false, nil, "package p\n")
	ok, _ := made.MatchFile(".", name)
	return ok
}
