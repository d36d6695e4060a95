"""Question 3: whose method is a scope, and what is its instance called?"""

from ctx_indexer.languages.semantics.definitions import NO_CLASS, Definitions, Receiver
from ctx_indexer.languages.semantics.values import Values
from ctx_indexer.syntax.symbols.table import CLASS, EXTENSION, FUNCTION, IN_TYPE


class Receivers:
    """By default all code of a class has an instance of it, which a word names: `this`."""

    def around(self, file: Definitions, number: int) -> Receiver | None:
        """Return the class whose method a scope is in, and the name of its instance there."""
        while number > 0:
            scope = file.scope(number)
            if scope.kind == FUNCTION:
                if scope.owner and scope.receiver != IN_TYPE:
                    return Receiver(NO_CLASS, scope.receiver, number)
                if file.scope(scope.parent).kind in (CLASS, EXTENSION):
                    return self.of_method(file, number)
            elif scope.kind in (CLASS, EXTENSION) and (own := self.of_class(number)):
                return own
            number = scope.parent
        return None

    def of_method(self, file: Definitions, number: int) -> Receiver | None:
        """Return the receiver of a method that stands in its class."""
        return Receiver(file.scope(number).parent, "", number)

    def of_class(self, number: int) -> Receiver | None:
        """Return the receiver of code in a class that is in no method: `int n = count();`."""
        return Receiver(number, "", number)

    def is_other(self, values: Values) -> bool:
        """Whether a receiver may be of a type from outside, beside the known ones."""
        return False
