package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	t.Parallel()
	w := load(t)
	// No row of the contract is proven by code that nobody calls. What tests share lives in packages named *test, and in
	// those of internal that are tests as programs.
	t.Run("no exported code is reached by tests only", func(t *testing.T) {
		for _, p := range w.packages {
			if p.name == "main" {
				w.roots(p)
			}
		}
		w.walk()
		for _, name := range w.unreached() {
			t.Errorf("%s is reached by tests only: use it, or delete it", name)
		}
	})
	t.Run("sentences get what their placeholders name", func(t *testing.T) { sentences(t, w) })
	t.Run("A31 one type says what a tool costs, and whatever has a costing model has that one", func(t *testing.T) {
		var one *types.TypeName
		for _, tn := range w.typeNames() {
			if !strings.EqualFold(tn.Name(), "CostingModel") && !hasFields(tn.Type(), "Rate", "Unit", "RateSource") {
				continue
			}
			if one != nil {
				t.Errorf("%s: %s says what a tool costs, as %s does", w.fset.Position(tn.Pos()), tn.Name(), one.Name())
			}
			one = tn
		}
		if one == nil {
			t.Fatal("no type says what a tool costs")
		}
		tools := 0
		for _, f := range w.fields("CostingModel") {
			of := f.Type()
			if p, ok := of.(*types.Pointer); ok {
				of = p.Elem()
			}
			if !types.Identical(of, one.Type()) {
				t.Errorf("%s: a costing model that is no %s", w.fset.Position(f.Pos()), one.Name())
			}
			tools++
		}
		if tools == 0 {
			t.Errorf("nothing has a %s", one.Name())
		}
	})
}

// typeNames are all types that are declared, those inside functions too, without other names of a type.
func (w *world) typeNames() (found []*types.TypeName) {
	for _, p := range w.packages {
		for _, o := range p.info.Defs {
			if tn, ok := o.(*types.TypeName); ok && !tn.IsAlias() {
				found = append(found, tn)
			}
		}
	}
	return found
}

// fields are all fields of structs that have the name.
func (w *world) fields(name string) (found []*types.Var) {
	for _, p := range w.packages {
		for _, o := range p.info.Defs {
			if f, ok := o.(*types.Var); ok && f.IsField() && strings.EqualFold(f.Name(), name) {
				found = append(found, f)
			}
		}
	}
	return found
}

func hasFields(t types.Type, names ...string) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		names = slices.DeleteFunc(names, func(name string) bool { return strings.EqualFold(f.Name(), name) })
	}
	return len(names) == 0
}

// world is the program's source, type-checked without its tests.
type world struct {
	fset       *token.FileSet
	packages   []*checked
	uses       map[types.Object][]types.Object // of what an object's declaration mentions
	interfaces []*types.Interface              // of others, and the nameless ones
	generic    map[*types.Interface]bool       // those among them that have type parameters: told by the names of their methods
	reached    map[types.Object]bool
	queue      []types.Object
	named      []*types.TypeName // reached types
	shown      map[string]bool   // names of members that templates show
}

type checked struct {
	name, dir string
	types     *types.Package
	info      *types.Info
	files     []*ast.File
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles                       []string
}

// isProgram reports whether a package is part of what runs, or of the examples, and not of the tests.
func isProgram(path string) bool {
	inside, ours := strings.CutPrefix(path, module)
	forTests := func(folder string) bool { return strings.HasSuffix(folder, "test") }
	return ours && !slices.ContainsFunc(strings.Split(inside, "/"), forTests)
}

func load(t *testing.T) *world {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Name,Export,GoFiles", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{fset: token.NewFileSet(), uses: map[types.Object][]types.Object{}, reached: map[types.Object]bool{}, shown: map[string]bool{}, generic: map[*types.Interface]bool{}}
	exports, own := map[string]string{}, map[string]*types.Package{}
	others := importer.ForCompiler(w.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	imported := importerFunc(func(path string) (*types.Package, error) {
		if p := own[path]; p != nil {
			return p, nil
		}
		return others.Import(path)
	})
	for list := json.NewDecoder(strings.NewReader(string(out))); ; { // in the order of dependence
		var l listed
		if err := list.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[l.ImportPath] = l.Export
		if !isProgram(l.ImportPath) {
			continue
		}
		p := &checked{name: l.Name, dir: l.Dir, info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
		for _, name := range l.GoFiles {
			file, err := parser.ParseFile(w.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, file)
		}
		config := types.Config{Importer: imported}
		if p.types, err = config.Check(l.ImportPath, w.fset, p.files, p.info); err != nil {
			t.Fatal(err)
		}
		own[l.ImportPath] = p.types
		w.packages = append(w.packages, p)
		w.index(t, p)
	}
	w.foreign(own)
	return w
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// index notes what each declaration of a package mentions, its nameless interfaces, and what its templates show.
func (w *world) index(t *testing.T, p *checked) {
	t.Helper()
	for _, file := range p.files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				w.mention(p, d, p.info.Defs[d.Name])
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						w.mention(p, s, p.info.Defs[s.Name])
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.Name != "_" { // an assertion of a type is no use of it
								w.mention(p, s, p.info.Defs[name])
							}
						}
					}
				}
			}
		}
	}
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".html", ".tmpl"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range member.FindAllStringSubmatch(string(text), -1) {
			w.shown[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var member = regexp.MustCompile(`\.([A-Z]\w*)`)

func (w *world) mention(p *checked, n ast.Node, by types.Object) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if used := p.info.Uses[n]; used != nil {
				w.uses[by] = append(w.uses[by], origin(used))
			}
		case *ast.InterfaceType:
			if i, ok := p.info.Types[n].Type.(*types.Interface); ok {
				if _, isNamed := by.(*types.TypeName); !isNamed {
					w.interfaces = append(w.interfaces, i)
				}
			}
		}
		return true
	})
}

// origin is the declared object behind one of a generic type or function.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// foreign collects the interfaces of other modules, through which they call our methods.
func (w *world) foreign(own map[string]*types.Package) {
	seen := map[*types.Package]bool{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		if own[p.Path()] == nil {
			for _, name := range p.Scope().Names() {
				if tn, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
					if i, ok := tn.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 {
						n, isNamed := tn.Type().(*types.Named)
						w.generic[i] = isNamed && n.TypeParams().Len() > 0
						w.interfaces = append(w.interfaces, i)
					}
				}
			}
		}
		for _, q := range p.Imports() {
			visit(q)
		}
	}
	for _, p := range own {
		visit(p)
	}
	w.interfaces = append(w.interfaces, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// roots are what is run in a main package: main, and the methods that the reader of command lines finds by name.
func (w *world) roots(p *checked) {
	for _, name := range p.types.Scope().Names() {
		o := p.types.Scope().Lookup(name)
		if name == "main" {
			w.reach(o)
		}
		if tn, ok := o.(*types.TypeName); ok {
			if n, ok := tn.Type().(*types.Named); ok {
				for m := range n.Methods() {
					w.reach(m)
				}
			}
		}
	}
}

func (w *world) reach(o types.Object) {
	if o != nil && !w.reached[o] {
		w.reached[o] = true
		w.queue = append(w.queue, o)
	}
}

// walk reaches all that what is reached mentions, and the methods by which interfaces that are in use are kept to.
func (w *world) walk() {
	for len(w.queue) > 0 {
		for len(w.queue) > 0 {
			o := w.queue[0]
			w.queue = w.queue[1:]
			for _, used := range w.uses[o] {
				w.reach(used)
			}
			if tn, ok := o.(*types.TypeName); ok {
				w.named = append(w.named, tn)
			}
		}
		in := slices.Clone(w.interfaces)
		for _, tn := range w.named {
			if i, ok := tn.Type().Underlying().(*types.Interface); ok {
				in = append(in, i)
			}
		}
		for _, tn := range w.named {
			w.methods(tn, in)
		}
	}
}

// byConvention are methods that packages ask for by interfaces without a name, such as errors does.
var byConvention = []string{"Unwrap", "Is", "As", "Timeout", "Temporary"}

func (w *world) methods(tn *types.TypeName, interfaces []*types.Interface) {
	n, ok := tn.Type().(*types.Named)
	if !ok || types.IsInterface(n) {
		return
	}
	set := types.NewMethodSet(types.NewPointer(n))
	for _, i := range interfaces {
		if i.NumMethods() > set.Len() || !w.generic[i] && n.TypeParams().Len() == 0 && !(names(set, i) && types.Implements(types.NewPointer(n), i)) {
			continue
		}
		for m := range i.Methods() {
			if s := set.Lookup(m.Pkg(), m.Name()); s != nil {
				w.reach(origin(s.Obj()))
			}
		}
	}
	for m := range n.Methods() {
		if w.shown[m.Name()] || slices.Contains(byConvention, m.Name()) {
			w.reach(m)
		}
	}
}

// names tells whether a set has methods of all names of an interface. Mostly it does not, and comparing types would take longer to tell.
func names(set *types.MethodSet, i *types.Interface) bool {
	for m := range i.Methods() {
		if set.Lookup(m.Pkg(), m.Name()) == nil {
			return false
		}
	}
	return true
}

// unreached lists what is exported for nobody.
func (w *world) unreached() (names []string) {
	for _, p := range w.packages {
		report := func(o types.Object, name string) {
			if o.Exported() && !w.reached[o] {
				at := w.fset.Position(o.Pos())
				names = append(names, strings.TrimPrefix(p.types.Path(), module)+"."+name+" ("+filepath.Base(at.Filename)+")")
			}
		}
		for _, name := range p.types.Scope().Names() {
			o := p.types.Scope().Lookup(name)
			if _, isConst := o.(*types.Const); isConst { // a word of a vocabulary
				continue
			}
			report(o, name)
			if tn, ok := o.(*types.TypeName); ok && w.reached[o] {
				if n, ok := tn.Type().(*types.Named); ok && !types.IsInterface(n) {
					for m := range n.Methods() {
						report(m, name+"."+m.Name())
					}
				}
			}
		}
	}
	return names
}
