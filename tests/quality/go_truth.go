// Package-level definitions of a Go folder by go/ast, one per line: path, line, kind, name, owner (tab-separated).
//
//	go run tests/quality/go_truth.go FOLDER
//
// Kinds: function, method (of a receiver), type, constant, variable, and, inside types, field and imethod (a method
// of an interface). Files that do not parse are left out, each with a line on stderr. go_compare.py reads the output.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run go_truth.go FOLDER")
		os.Exit(2)
	}
	err := filepath.WalkDir(os.Args[1], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Fprintln(os.Stderr, "skipped", path, err)
			return nil
		}
		fmt.Printf("%s\t0\tfile\t%s\t\n", path, file.Name.Name)
		list(set, path, file)
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func list(set *token.FileSet, path string, file *ast.File) {
	put := func(kind string, name *ast.Ident, owner string) {
		if name.Name == "_" {
			return
		}
		// The real line of the file, whatever a //line directive claims.
		fmt.Printf("%s\t%d\t%s\t%s\t%s\n", path, set.PositionFor(name.Pos(), false).Line, kind, name.Name, owner)
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				put("function", decl.Name, "")
			} else if len(decl.Recv.List) > 0 { // `func () f()` parses, but is no method
				put("method", decl.Name, receiver(decl.Recv.List[0].Type))
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					put("type", spec.Name, "")
					members(spec, put)
				case *ast.ValueSpec:
					kind := "variable"
					if decl.Tok == token.CONST {
						kind = "constant"
					}
					for _, name := range spec.Names {
						put(kind, name, "")
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

// members lists the named fields and the methods written in a type, at any depth.
func members(spec *ast.TypeSpec, put func(string, *ast.Ident, string)) {
	ast.Inspect(spec.Type, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.StructType:
			for _, field := range node.Fields.List {
				for _, name := range field.Names {
					put("field", name, spec.Name.Name)
				}
			}
		case *ast.InterfaceType:
			for _, field := range node.Methods.List {
				for _, name := range field.Names {
					put("imethod", name, spec.Name.Name)
				}
			}
		}
		return true
	})
}
