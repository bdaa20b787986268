// What javac says that each written call of a folder's Java sources means.
//
//     java JavacCalls.java FOLDER [CLASSPATH]
//
// Prints tab-separated lines; paths are relative to FOLDER, lines are 1-based.
//
//     call       path  line  name  target
//     overrides  method  overridden method
//     note       text
//
// Calls are those of methods and constructors: `f()`, `new C()`, `this()`, `super()`; not references such as `C::f`, nor
// constants of an enum, which call its constructor without naming it. `name` is that of the method, or of the
// constructor's class, and `line` where the call has its name. A declaration is `path:line:name`, at the line of its name.
// A target is
//
// - a declaration of FOLDER. Of a class without a constructor, `new C()` means the class, or also the constructor that its
//   implicit one calls, behind a space;
// - "-", if it is declared elsewhere, or written in no source, such as `values()` of an enum;
// - "?", if javac could not attribute the call, for example because a library is not on CLASSPATH.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.lang.model.util.*;
import javax.tools.*;

class JavacCalls {
    final Path folder;
    final JavacTask task;
    final Trees trees;
    final SourcePositions positions;
    final PrintStream out;

    JavacCalls(Path folder, JavacTask task, PrintStream out) {
        this.folder = folder;
        this.task = task;
        this.trees = Trees.instance(task);
        this.positions = trees.getSourcePositions();
        this.out = out;
    }

    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]).toRealPath();
        List<Path> sources;
        try (Stream<Path> all = Files.walk(folder)) {
            sources = all.filter(JavacCalls::isSource).sorted().collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        List<String> options = new ArrayList<>(List.of(
            "-proc:none", "-implicit:none", "-Xmaxerrs", "1000000", "-XDshould-stop.ifError=FLOW"));
        if (args.length > 1) options.addAll(List.of("-classpath", args[1]));
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
                PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8")) {
            JavacTask task = (JavacTask) compiler.getTask(
                null, files, problems, options, null, files.getJavaFileObjectsFromPaths(sources));
            Iterable<? extends CompilationUnitTree> units = task.parse();
            task.analyze();
            JavacCalls program = new JavacCalls(folder, task, out);
            for (CompilationUnitTree unit : units) program.new Calls(unit).scan(unit, null);
            long errors = problems.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).count();
            out.println("note\t" + sources.size() + " files, " + errors + " errors of javac");
        }
    }

    static boolean isSource(Path path) {
        String name = path.getFileName().toString();
        return name.endsWith(".java") && !name.equals("module-info.java") && !name.equals("package-info.java");
    }

    /** Prints what one file calls and overrides. */
    class Calls extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final String text;

        Calls(CompilationUnitTree unit) throws IOException {
            this.unit = unit;
            this.text = unit.getSourceFile().getCharContent(true).toString();
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree call, Void unused) {
            Tree called = call.getMethodSelect();
            String name = called instanceof MemberSelectTree
                ? ((MemberSelectTree) called).getIdentifier().toString()
                : ((IdentifierTree) called).getName().toString();
            print(positions.getEndPosition(unit, called) - name.length(), name, trees.getElement(getCurrentPath()));
            return super.visitMethodInvocation(call, unused);
        }

        @Override
        public Void visitNewClass(NewClassTree call, Void unused) {
            Tree type = call.getIdentifier();
            if (type instanceof AnnotatedTypeTree) type = ((AnnotatedTypeTree) type).getUnderlyingType();
            if (type instanceof ParameterizedTypeTree) type = ((ParameterizedTypeTree) type).getType();
            if (type instanceof AnnotatedTypeTree) type = ((AnnotatedTypeTree) type).getUnderlyingType();
            String name = type instanceof MemberSelectTree
                ? ((MemberSelectTree) type).getIdentifier().toString() : type.toString();
            Element constructor = trees.getElement(getCurrentPath());
            if (call.getClassBody() != null) constructor = superConstructor(constructor);
            print(positions.getEndPosition(unit, type) - name.length(), name, constructor);
            return super.visitNewClass(call, unused);
        }

        @Override
        public Void visitMethod(MethodTree method, Void unused) {
            Element element = trees.getElement(getCurrentPath());
            String own = element instanceof ExecutableElement ? declaration(element) : "-";
            if (!own.equals("-") && element.getKind() == ElementKind.METHOD) overrides((ExecutableElement) element, own);
            return super.visitMethod(method, unused);
        }

        void print(long position, String name, Element element) {
            if (position < 0 || !text.startsWith(name, (int) position)) {
                return; // javac adds calls of super()
            }
            String file = folder.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            if (element != null && element.getKind() == ElementKind.CONSTRUCTOR) name = nameOf(element);
            out.println(String.join("\t", "call", file, "" + unit.getLineMap().getLineNumber(position), name, target(element)));
        }
    }

    /** The constructor of the base that the constructor of a class without a name calls. */
    Element superConstructor(Element constructor) {
        MethodTree method = constructor instanceof ExecutableElement ? trees.getTree((ExecutableElement) constructor) : null;
        if (method == null || method.getBody() == null) return null;
        TreePath path = trees.getPath(constructor);
        for (StatementTree statement : method.getBody().getStatements()) {
            if (statement instanceof ExpressionStatementTree && path != null) {
                Tree call = ((ExpressionStatementTree) statement).getExpression();
                if (call instanceof MethodInvocationTree) {
                    return trees.getElement(new TreePath(new TreePath(new TreePath(path, method.getBody()), statement), call));
                }
            }
        }
        return null;
    }

    String target(Element element) {
        if (!(element instanceof ExecutableElement) || element.asType().getKind() == TypeKind.ERROR) return "?";
        String own = declaration(element);
        if (!own.equals("-") || element.getKind() != ElementKind.CONSTRUCTOR) return own;
        String type = declaration(element.getEnclosingElement());
        if (type.equals("-")) return own;
        Element base = superConstructor(element);
        String inherited = base == null ? "-" : target(base);
        return inherited.equals("-") || inherited.equals("?") ? type : type + " " + inherited;
    }

    void overrides(ExecutableElement method, String own) {
        TypeElement type = (TypeElement) method.getEnclosingElement();
        Types types = task.getTypes();
        Set<Element> seen = new HashSet<>();
        Deque<TypeMirror> pending = new ArrayDeque<>(types.directSupertypes(type.asType()));
        while (!pending.isEmpty()) {
            TypeMirror base = pending.pop();
            Element element = types.asElement(base);
            if (element == null || !seen.add(element)) continue;
            pending.addAll(types.directSupertypes(base));
            for (ExecutableElement other : ElementFilter.methodsIn(element.getEnclosedElements())) {
                if (!other.getSimpleName().equals(method.getSimpleName())) continue;
                String overridden = task.getElements().overrides(method, other, type) ? declaration(other) : "-";
                if (!overridden.equals("-")) out.println("overrides\t" + own + "\t" + overridden);
            }
        }
    }

    static String nameOf(Element element) {
        boolean constructor = element.getKind() == ElementKind.CONSTRUCTOR;
        return (constructor ? element.getEnclosingElement() : element).getSimpleName().toString();
    }

    /** `path:line:name` of what is written in a source of the folder, else "-". */
    String declaration(Element element) {
        TreePath path = trees.getPath(element);
        if (path == null) return "-";
        CompilationUnitTree unit = path.getCompilationUnit();
        Tree tree = path.getLeaf();
        String name = nameOf(element);
        long start = positions.getStartPosition(unit, tree), end = positions.getEndPosition(unit, tree);
        if (start < 0 || end < start) return "-";
        long position = namePosition(unit, tree, start, end, name);
        if (position < 0) return "-";
        String file = folder.relativize(Path.of(unit.getSourceFile().toUri())).toString();
        return file + ":" + unit.getLineMap().getLineNumber(position) + ":" + name;
    }

    long namePosition(CompilationUnitTree unit, Tree tree, long start, long end, String name) {
        long from = start;
        if (tree instanceof MethodTree) {
            MethodTree method = (MethodTree) tree;
            from = after(unit, method.getModifiers(), from);
            for (Tree parameter : method.getTypeParameters()) from = after(unit, parameter, from);
            if (method.getReturnType() != null) from = after(unit, method.getReturnType(), from);
        } else if (tree instanceof ClassTree) {
            from = after(unit, ((ClassTree) tree).getModifiers(), from);
        }
        try {
            String text = unit.getSourceFile().getCharContent(true).toString();
            for (int at = text.indexOf(name, (int) from); at >= 0 && at < end; at = text.indexOf(name, at + 1)) {
                boolean whole = !Character.isJavaIdentifierPart(text.charAt(at - 1))
                    && !Character.isJavaIdentifierPart(text.charAt(at + name.length()));
                if (whole) return at;
            }
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
        return -1;
    }

    long after(CompilationUnitTree unit, Tree tree, long from) {
        return Math.max(from, positions.getEndPosition(unit, tree));
    }
}
