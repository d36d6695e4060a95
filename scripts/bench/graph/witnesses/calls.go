// Says what every call of Go below a folder runs, by Go's own type checker.
//
//	go run scripts/bench/graph/witnesses/calls.go ROOT [MODULE=FOLDER ...] > witness.jsonl
//
// The lines are those that call_sites.py reads. Packages of the modules below ROOT are checked from
// their source with the tests, for the platform that it runs on; MODULE=FOLDER says where the source
// of a module lies that they import. Packages of others are empty, and what is called of their types
// is left out. A call through an interface is one of the interface's method. A conversion, which is
// no call, and a variable that holds functions are left out, unless all of them are written out.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	version    = regexp.MustCompile(`(/v\d+|\.v\d+)$`) // of a module, no part of its package's name
	moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
)

type row struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Name   string `json:"name"`
	Target any    `json:"target"`
}

type witness struct {
	root     string
	files    *token.FileSet
	modules  map[string]string // folders by import path
	packages map[string]*types.Package
	library  types.Importer
	tested   *types.Package // what tests from outside of a package import, with its inner tests
	output   *json.Encoder
}

// Import returns a package: of a module from its source, of the library, or else an empty one.
func (w *witness) Import(name string) (*types.Package, error) {
	if w.tested != nil && w.tested.Path() == name {
		return w.tested, nil
	}
	if known := w.packages[name]; known != nil {
		return known, nil
	}
	empty := types.NewPackage(name, path.Base(version.ReplaceAllString(name, "")))
	empty.MarkComplete()
	w.packages[name] = empty
	if folder := w.folder(name); folder != "" {
		if files := w.parse(folder, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }); len(files) > 0 {
			w.packages[name], _ = w.check(name, mostCommon(files), nil)
		}
	} else if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		if found, err := w.library.Import(name); err == nil {
			w.packages[name] = found
		}
	}
	return w.packages[name], nil
}

func (w *witness) folder(name string) string {
	for module := name; module != "."; module = path.Dir(module) {
		if folder, known := w.modules[module]; known {
			return filepath.Join(folder, strings.TrimPrefix(name, module))
		}
	}
	return ""
}

func (w *witness) parse(folder string, wanted func(string) bool) (files []*ast.File) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		file := entry.Name()
		if fits, _ := build.Default.MatchFile(folder, file); fits && strings.HasSuffix(file, ".go") && wanted(file) {
			if tree, err := parser.ParseFile(w.files, filepath.Join(folder, file), nil, 0); err == nil {
				files = append(files, tree)
			}
		}
	}
	return files
}

// mostCommon leaves out files of another package, such as programs that generate code.
func mostCommon(files []*ast.File) (kept []*ast.File) {
	counts, best := map[string]int{}, ""
	for _, file := range files {
		if counts[file.Name.Name]++; counts[file.Name.Name] > counts[best] {
			best = file.Name.Name
		}
	}
	for _, file := range files {
		if file.Name.Name == best {
			kept = append(kept, file)
		}
	}
	return kept
}

func (w *witness) check(name string, files []*ast.File, info *types.Info) (*types.Package, error) {
	config := types.Config{Importer: w, Error: func(error) {}, FakeImportC: true}
	return config.Check(name, w.files, files, info)
}

// folderCalls prints the calls of the packages in a folder: itself with its tests, and tests from outside.
func (w *witness) folderCalls(name, folder string) {
	byPackage := map[string][]*ast.File{}
	for _, file := range w.parse(folder, func(string) bool { return true }) {
		byPackage[file.Name.Name] = append(byPackage[file.Name.Name], file)
	}
	w.tested = nil
	for _, outer := range []bool{false, true} {
		for title, files := range byPackage {
			if strings.HasSuffix(title, "_test") != outer {
				continue
			}
			info := &types.Info{
				Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
			}
			found, _ := w.check(name, files, info)
			if !outer {
				w.tested = found
			}
			w.calls(files, info)
		}
	}
	w.tested = nil
}

func (w *witness) calls(files []*ast.File, info *types.Info) {
	held := heldFunctions(files, info)
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			if call, is := node.(*ast.CallExpr); is && !info.Types[call.Fun].IsType() {
				w.call(named(call.Fun), info, held)
			}
			return true
		})
	}
}

// named returns the identifier that says what is called; nil where there is none.
func named(function ast.Expr) *ast.Ident {
	switch written := function.(type) {
	case *ast.Ident:
		return written
	case *ast.SelectorExpr:
		return written.Sel
	case *ast.ParenExpr:
		return named(written.X)
	case *ast.IndexExpr:
		return named(written.X)
	case *ast.IndexListExpr:
		return named(written.X)
	}
	return nil
}

func (w *witness) call(name *ast.Ident, info *types.Info, held map[types.Object][]token.Pos) {
	if name == nil {
		return
	}
	switch object := info.Uses[name].(type) {
	case *types.Func:
		w.print(name, object.Name(), object.Pos())
	case *types.Builtin:
		w.print(name, object.Name(), token.NoPos)
	case *types.Var:
		for _, position := range held[object] {
			w.print(name, object.Name(), position)
		}
	}
}

func (w *witness) print(site *ast.Ident, name string, target token.Pos) {
	at := w.files.Position(site.Pos())
	result := row{w.relative(at.Filename), at.Line, name, nil}
	if place := w.files.Position(target); target.IsValid() && w.relative(place.Filename) != "" {
		result.Target = []any{w.relative(place.Filename), place.Line}
	}
	if result.Path != "" {
		w.output.Encode(result)
	}
}

func (w *witness) relative(file string) string {
	if inner := strings.TrimPrefix(file, w.root+"/"); inner != file {
		return inner
	}
	return ""
}

// heldFunctions returns the variables that only ever hold functions written out, with those.
func heldFunctions(files []*ast.File, info *types.Info) map[types.Object][]token.Pos {
	held, open := map[types.Object][]token.Pos{}, map[types.Object]bool{}
	assign := func(target ast.Expr, value ast.Expr) {
		name, is := target.(*ast.Ident)
		if !is {
			return
		}
		object := info.Defs[name]
		if object == nil {
			object = info.Uses[name]
		}
		if written, is := value.(*ast.FuncLit); is {
			held[object] = append(held[object], written.Pos())
		} else {
			open[object] = true
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch statement := node.(type) {
			case *ast.AssignStmt:
				for at, target := range statement.Lhs {
					assign(target, valueAt(statement.Rhs, at))
				}
			case *ast.ValueSpec:
				for at, target := range statement.Names {
					if len(statement.Values) > 0 {
						assign(target, valueAt(statement.Values, at))
					}
				}
			case *ast.UnaryExpr:
				if statement.Op == token.AND {
					assign(statement.X, nil)
				}
			}
			return true
		})
	}
	for object := range open {
		delete(held, object)
	}
	return held
}

func valueAt(values []ast.Expr, at int) ast.Expr {
	if at < len(values) {
		return values[at]
	}
	return nil
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	build.Default.CgoEnabled = false
	files := token.NewFileSet()
	w := &witness{
		root: root, files: files, modules: map[string]string{}, packages: map[string]*types.Package{},
		library: importer.ForCompiler(files, "source", nil), output: json.NewEncoder(os.Stdout),
	}
	for _, each := range os.Args[2:] {
		module, folder, _ := strings.Cut(each, "=")
		w.modules[module], _ = filepath.Abs(folder)
	}
	var folders []string
	filepath.Walk(root, func(file string, entry os.FileInfo, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, file)
		} else if err == nil && entry.Name() == "go.mod" {
			text, _ := os.ReadFile(file)
			if found := moduleLine.FindSubmatch(text); found != nil {
				w.modules[string(found[1])] = filepath.Dir(file)
			}
		}
		return nil
	})
	for _, folder := range folders {
		w.folderCalls(w.importPath(folder), folder)
	}
}

// importPath returns the path by which the package in a folder is imported.
func (w *witness) importPath(folder string) string {
	best, result := "", folder
	for module, home := range w.modules {
		if (folder == home || strings.HasPrefix(folder, home+"/")) && len(home) >= len(best) {
			best, result = home, path.Join(module, strings.TrimPrefix(folder, home))
		}
	}
	return result
}
