import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.tools.*;

/**
 * Prints which methods and constructors the calls below a folder mean, as the compiler of Java says
 * it, for `scripts/bench/graph/call_sites.py`:
 *
 *     java scripts/bench/graph/witnesses/Calls.java ROOT [CLASSPATH] > WITNESS
 *
 * Errors of what is missing are ignored. Calls that the compiler cannot resolve are left out, and so
 * are those where it guesses among overloads, because a type of theirs or of an argument is missing.
 */
public class Calls extends TreePathScanner<Void, Void> {
    private static final String NO_CONSTRUCTOR = "<init>";
    private final Path root;
    private final Trees trees;
    private final PrintStream out;

    private Calls(Path root, Trees trees, PrintStream out) {
        this.root = root;
        this.trees = trees;
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]).toRealPath();
        List<Path> sources;
        try (Stream<Path> files = Files.walk(root)) {
            sources = files.filter(Calls::isSource).sorted().collect(Collectors.toList());
        }
        // Types are attributed in spite of errors; no annotation processor runs.
        var options = new ArrayList<>(List.of("-proc:none", "-XDshould-stop.ifError=FLOW"));
        if (arguments.length > 1) options.addAll(List.of("-cp", arguments[1]));
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var manager = compiler.getStandardFileManager(null, null, null)) {
            var units = manager.getJavaFileObjectsFromPaths(sources);
            var task = (JavacTask) compiler.getTask(null, manager, each -> {}, options, null, units);
            var parsed = new ArrayList<CompilationUnitTree>();
            task.parse().forEach(parsed::add);
            task.analyze();
            var calls = new Calls(root, Trees.instance(task), new PrintStream(System.out, false));
            for (CompilationUnitTree unit : parsed) calls.scan(unit, null);
            calls.out.flush();
        }
    }

    private static boolean isSource(Path path) {
        String name = path.getFileName().toString();
        return name.endsWith(".java") && !name.equals("module-info.java");
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
        Tree select = call.getMethodSelect();
        Element called = trees.getElement(new TreePath(getCurrentPath(), select));
        if (!isGuess(called, call.getArguments())) write(select, called);
        return super.visitMethodInvocation(call, nothing);
    }

    @Override
    public Void visitNewClass(NewClassTree call, Void nothing) {
        boolean isConstant = getCurrentPath().getParentPath().getLeaf() instanceof VariableTree
            && isEnumConstant(getCurrentPath().getParentPath());
        Element called = constructed(call);
        if (!isConstant && !isGuess(called, call.getArguments())) write(call.getIdentifier(), called);
        return super.visitNewClass(call, nothing);
    }

    /** Whether a missing type has a part in choosing among the methods of a name. */
    private boolean isGuess(Element called, List<? extends ExpressionTree> arguments) {
        if (!(called instanceof ExecutableElement)) return false;
        var same = called.getEnclosingElement().getEnclosedElements().stream()
            .filter(each -> each.getSimpleName().equals(called.getSimpleName()))
            .filter(each -> each instanceof ExecutableElement)
            .collect(Collectors.toList());
        // A method with a missing type keeps the compiler from taking others of its name.
        if (same.stream()
            .flatMap(each -> ((ExecutableElement) each).getParameters().stream())
            .anyMatch(each -> isErroneous(each.asType()))) return true;
        for (ExpressionTree each : arguments) {
            var type = trees.getTypeMirror(new TreePath(getCurrentPath(), each));
            if (same.size() > 1 && isErroneous(type)) return true;
        }
        return false;
    }

    private static boolean isErroneous(TypeMirror type) {
        return type == null || type.getKind() == TypeKind.ERROR;
    }

    private boolean isEnumConstant(TreePath variable) {
        Element element = trees.getElement(variable);
        return element != null && element.getKind() == ElementKind.ENUM_CONSTANT;
    }

    /** The constructor that `new` runs; of a class without a name, that of its parent. */
    private Element constructed(NewClassTree call) {
        Element own = trees.getElement(getCurrentPath());
        if (call.getClassBody() == null) return own;
        var type = new TreePath(getCurrentPath(), call.getIdentifier());
        Element named = trees.getElement(type);
        if (named == null || named.getKind().isInterface()) return named;
        for (Tree member : call.getClassBody().getMembers()) {
            if (!(member instanceof MethodTree)) continue;
            var method = (MethodTree) member;
            if (!method.getName().contentEquals(NO_CONSTRUCTOR)) continue;
            var body = new TreePath(getCurrentPath(), call.getClassBody());
            var inner = new TreePath(new TreePath(body, method), method.getBody());
            for (StatementTree each : method.getBody().getStatements()) {
                var statement = new TreePath(inner, each);
                var invocation = (MethodInvocationTree) ((ExpressionStatementTree) each).getExpression();
                var path = new TreePath(statement, invocation);
                return trees.getElement(new TreePath(path, invocation.getMethodSelect()));
            }
        }
        return null;
    }

    private void write(Tree written, Element called) {
        CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
        long end = trees.getSourcePositions().getEndPosition(unit, written);
        boolean isKnown = called != null && called.asType().getKind() != TypeKind.ERROR;
        if (end == Diagnostic.NOPOS || !isKnown || called.getKind() == ElementKind.OTHER) return;
        boolean constructs = called.getKind() == ElementKind.CONSTRUCTOR;
        Element named = constructs ? called.getEnclosingElement() : called;
        out.printf(
            "{\"path\": \"%s\", \"line\": %d, \"name\": \"%s\", \"target\": %s}%n",
            relative(unit), unit.getLineMap().getLineNumber(end - 1), named.getSimpleName(),
            target(called, named));
    }

    /** Where an element is declared; an implicit constructor stands for its class. */
    private String target(Element called, Element named) {
        TreePath path = place(called);
        if (path == null && called != named) path = place(named);
        if (path == null) return "null";
        CompilationUnitTree unit = path.getCompilationUnit();
        long start = trees.getSourcePositions().getStartPosition(unit, path.getLeaf());
        return String.format("[\"%s\", %d]", relative(unit), unit.getLineMap().getLineNumber(start));
    }

    private TreePath place(Element element) {
        TreePath path = trees.getPath(element);
        if (path == null) return null;
        var unit = path.getCompilationUnit();
        long end = trees.getSourcePositions().getEndPosition(unit, path.getLeaf());
        return end == Diagnostic.NOPOS ? null : path;
    }

    private String relative(CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }
}
