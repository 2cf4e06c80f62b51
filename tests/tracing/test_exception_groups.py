"""try with except* clauses whose bodies raise when the graph runs."""

from tests.tracing.test_objects import agrees


def test_exception_groups():
    class Late(Exception):
        pass

    def f(a, b):
        log = []
        for first in (0, 1):
            try:
                if a > first:
                    raise ExceptionGroup("several", [ValueError(1), KeyError(2), ExceptionGroup("in", [ValueError(3)])])
                if a < -1:
                    raise KeyError(a)
                log.append(b // a)
            except* ValueError as e:
                log.append(len(e.exceptions))
            except* (KeyError, ZeroDivisionError) as g:
                log.append(str(g.exceptions[0]))
                if b > 7:
                    raise Late("again") from g
            except* Late:
                log.append("never")
            else:
                log.append("else")
            finally:
                log.append("end")
        return log

    agrees(f, (2, 7), (1, 7), (0, 7), (-5, 7), (-1, 7), (2, 8), (0, 9))


def test_what_no_clause_of_a_group_takes():
    def f(a):
        found = []
        try:
            try:
                if a > 1:
                    raise ExceptionGroup("several", [ValueError(1), OSError(2)])
                if a > 0:
                    raise OSError(a)
            except* ValueError:
                found.append("value")
                raise
            except* KeyError:
                found.append("key")
        except ExceptionGroup as error:
            found.append([type(e).__name__ for e in error.exceptions])
        except OSError as error:
            found.append(error.args)
        return found

    agrees(f, (2,), (1,), (0,))
