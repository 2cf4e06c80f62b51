"""try statements that keep their form under trace, because their handlers hold vars(), locals() or yield."""

import autoconv as ac


def test_handlers_of_statements_that_stay_in_python_catch_no_errors_of_tracing():
    def f(n, log):
        v = 0
        try:
            if n > 1:
                v = 2
        except (ValueError, TypeError) as e:
            log.append(list(vars(e)))
            v = 7
        except:  # noqa: E722
            v = 8
        return v

    compiled = ac.compile(f)
    for n in (0, 1, 2, 3):
        log = []
        assert (compiled(n, log), log) == (f(n, []), [])


def test_handlers_see_exceptions_of_an_inner_try_whose_paths_all_raise():
    def f(k, d, kept):
        out = []
        try:
            try:
                raise ValueError("given", k)
            except LookupError as e:
                raise kept[-1] from e
        except ValueError as e:
            d["e"] = k
            out.append(list(vars(e)))
        return out

    compiled = ac.compile(f)
    for k in (0, 1):
        outcomes = [(function(k, d := {0: 4}, []), d) for function in (f, compiled)]
        assert outcomes[0] == outcomes[1] == ([[]], {0: 4, "e": k})
