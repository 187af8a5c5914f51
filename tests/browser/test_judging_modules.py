"""The modules of the judging screen, each by itself, in the browser that will run them."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser.judging_screen import module
from playwright.sync_api import Browser, Page


@pytest.fixture
def blank(browser: Browser, running_server: str) -> Iterator[Page]:
    """A page of our own host with nothing of the screen on it."""
    context = browser.new_context(locale="en")
    page = context.new_page()
    page.goto(f"{running_server}/sign-in")
    yield page
    context.close()


def test_the_desk_keeps_queue_and_trail(blank: Page) -> None:
    told = module(
        blank,
        "desk",
        """({ Desk }) => {
          const desk = new Desk();
          const of = (...ids) => ids.map((assignment) => ({ assignment, decision: null }));
          const now = () => [desk.current?.assignment ?? null, desk.holds(), desk.trail.map((one) => one.assignment)];
          const steps = [];
          const step = (act) => { act(); steps.push(now()); };
          step(() => desk.take(of(1, 2, 3)));
          step(() => desk.settle({ grade: 1 }, false));
          step(() => desk.take(of(1, 2, 4)));            // judged, at hand, new
          step(() => desk.settle(null, true));           // 2 is put off
          step(() => { desk.goBack(); desk.goBack(); }); // looks at 1
          step(() => desk.settle({ grade: 0 }, false));  // 1 again: the judge goes on looking at it
          step(() => desk.take(of(2)));                  // what was put off comes again
          step(() => desk.drop([3]));                    // another tab has judged it
          step(() => desk.lengthen({ assignment: 9 }));
          step(() => desk.goForward());
          step(() => desk.goForward());
          step(() => desk.takeBack({ assignment: 1 }));  // its judgement is withdrawn
          return steps;
        }""",
    )
    assert told == [
        [1, [1, 2, 3], []],
        [2, [2, 3], [1]],
        [2, [2, 3, 4], [1]],
        [3, [3, 4], [1, 2]],
        [1, [3, 4], [1, 2]],
        [1, [3, 4], [1, 2]],
        [1, [3, 4, 2], [1]],
        [1, [4, 2], [1]],
        [9, [4, 2], [9, 1]],
        [1, [4, 2], [9, 1]],
        [4, [4, 2], [9, 1]],
        [1, [1, 4, 2], [9]],
    ]


def test_the_desk_keeps_fifty_judged_documents_and_leaves_the_way_of_who_looks_back_alone(blank: Page) -> None:
    told = module(
        blank,
        "desk",
        """({ Desk }) => {
          const desk = new Desk();
          const numbers = Array.from({ length: 60 }, (_, index) => ({ assignment: index + 1, decision: null }));
          desk.take(numbers);
          const now = () => [desk.trail.length, desk.oldest().assignment, desk.current.assignment];
          const steps = [];
          const step = (act) => { act(); steps.push(now()); };
          step(() => { for (let count = 0; count < 55; count += 1) desk.settle({ grade: 1 }, false); });
          step(() => { for (const assignment of [5, 4]) desk.lengthen({ assignment, decision: {} }); });
          step(() => desk.settle({ grade: 0 }, false));  // 4 again, while looking back
          step(() => desk.goForward());
          step(() => desk.goOn());
          step(() => desk.settle({ grade: 0 }, false));
          return steps;
        }""",
    )
    assert told == [[50, 6, 56], [52, 4, 4], [52, 4, 4], [52, 4, 5], [52, 4, 56], [50, 7, 57]]


def test_the_desk_shows_again_what_another_tab_put_off_or_the_server_refused(blank: Page) -> None:
    told = module(
        blank,
        "desk",
        """({ Desk }) => {
          const desk = new Desk();
          const both = [{ assignment: 1, decision: null }, { assignment: 2, decision: null }];
          desk.take(both);
          desk.putAside([1, 2]);
          const held = [desk.holds()];
          desk.take(both);
          held.push(desk.holds());
          desk.settle({ grade: 1 }, false);
          desk.take(both);
          held.push(desk.holds());
          desk.release([1]);
          desk.take(both);
          return [...held, desk.holds()];
        }""",
    )
    assert told == [[], [1, 2], [2], [2, 1]]


def test_the_clock_counts_a_minute_of_each_gap_and_nothing_while_hidden(blank: Page) -> None:
    told = module(
        blank,
        "clock",
        """({ Clock }) => {
          const clock = new Clock(0, true);
          clock.sign(10_000);                 // 10 s of reading
          clock.sign(310_000);                // 5 minutes away: one counts
          const looked = [clock.sofar(330_000), clock.sofar(999_000)];
          const first = clock.lap(330_000);   // 10 + 60 + 20
          clock.turn(335_000, false);         // 5 s, then another window
          clock.turn(935_000, true);
          return [...looked, first, clock.lap(936_000)];  // 5 + 1
        }""",
    )
    assert told == [90_000, 130_000, 90, 6]


@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ({"text": "functi", "kind": "prefix"}, "A function, dysfunction: Functional.", ["function", "Functional"]),
        ({"text": "run", "kind": "whole"}, "run runs rerun running Run's", ["run", "runs", "Run's"]),
        ({"text": "고양이", "kind": "substring"}, "길고양이는 고양이다", ["고양이", "고양이"]),
        ({"text": "検索", "kind": "substring"}, "全文検索エンジン", ["検索"]),
        ({"text": "C++", "kind": "prefix"}, "C++ and C++17 but not C", ["C++", "C++"]),
        ({"text": "cold war", "kind": "prefix"}, "the Cold\nWar and cold wars", ["Cold\nWar", "cold wars"]),
        ({"text": "naïv", "kind": "prefix"}, "Naïveté is naïve", ["Naïveté", "naïve"]),
        ({"text": "(a|b)", "kind": "whole"}, "a b (a|b)", ["(a|b)"]),
    ],
    ids=lambda value: value["text"] if isinstance(value, dict) else None,
)
def test_words_are_found(blank: Page, word: dict[str, str], text: str, found: list[str]) -> None:
    told = module(blank, "marks", "({ patternOf }, [word, text]) => text.match(patternOf([word])) ?? []", [word, text])
    assert told == found


@pytest.mark.parametrize(
    ("text", "kind"), [("cat", "whole"), ("cats", "prefix"), ("고양", "substring"), ("猫", "substring")]
)
def test_what_a_judge_types_is_looked_for_in_a_way_that_fits(blank: Page, text: str, kind: str) -> None:
    assert module(blank, "marks", "({ typed }, text) => typed(text)", text) == {"text": text, "kind": kind}


@pytest.mark.parametrize(
    ("event", "key"),
    [
        ({"key": "u", "code": "KeyU"}, "u"),
        ({"key": "U", "code": "KeyU", "shiftKey": True}, "Shift-U"),
        ({"key": "U", "code": "KeyU"}, "u"),  # Caps Lock is on
        ({"key": "ㅕ", "code": "KeyU", "shiftKey": True}, "Shift-U"),
        ({"key": "ㅕ", "code": "KeyU"}, "u"),
        ({"key": "Process", "code": "Digit2"}, "2"),
        ({"key": "&", "code": "Digit1"}, "1"),  # French, unshifted
        ({"key": "1", "code": "Digit1", "shiftKey": True}, "1"),  # French, shifted
        ({"key": "!", "code": "Digit1", "shiftKey": True}, "!"),
        ({"key": "3", "code": "Numpad3"}, "3"),
        ({"key": ",", "code": "NumpadDecimal"}, "."),  # German
        ({"key": "-", "code": "NumpadSubtract", "shiftKey": True}, "Shift--"),
        ({"key": "Dead", "code": "Backquote"}, "`"),  # German
        ({"key": "ArrowLeft", "code": "ArrowLeft"}, "ArrowLeft"),
        ({"key": "PageDown", "code": "Numpad3"}, ""),  # NumLock is off
        ({"key": "?", "code": "Minus", "shiftKey": True}, "?"),  # German
        ({"key": "/", "code": "Digit7", "shiftKey": True}, "/"),  # German
        ({"key": "Process", "code": "Slash", "shiftKey": True}, "?"),
        ({"key": "Process", "code": "BracketRight"}, "]"),
        ({"key": "Enter", "code": "NumpadEnter"}, "Enter"),
        ({"key": "Tab", "code": "Tab"}, ""),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_keys_have_names(blank: Page, event: dict[str, Any], key: str) -> None:
    told = module(blank, "key_names", "({ keyOf }, event) => keyOf(new KeyboardEvent('keydown', event))", event)
    assert told == key


@pytest.mark.parametrize("layout", ["usual", "number-pad", "left-hand"])
def test_each_command_of_a_layout_has_a_key_of_its_own(blank: Page, layout: str) -> None:
    told = module(
        blank,
        "key_layout",
        """({ KeyLayout }, layout) => {
          localStorage.clear();
          const commands = [..."0123xlune/][tqga?sdvbfmo", "w", "Shift-U", "Enter", "ArrowLeft"];
          const keys = new KeyLayout(1, commands);
          keys.choose(layout);
          const again = new KeyLayout(1, commands);
          const keys_of = commands.map((one) => again.keyOf(one));
          return [keys_of, keys_of.map((key) => again.commandOf(key)).join() === commands.join()];
        }""",
        layout,
    )
    keys, are_found = told
    assert len(set(keys)) == len(keys)
    assert "" not in keys
    assert are_found


def test_passages_count_characters_and_are_found_again(blank: Page) -> None:
    told = module(
        blank,
        "text",
        """({ passageOf, rangeOf, lengthOf }) => {
          const root = document.createElement("div");
          root.innerHTML = "<p>A 🐈 and</p><p>a <b>dog</b> 🐕.</p>";
          document.body.append(root);
          const [first, , bold] = [root.firstChild.firstChild, null, root.querySelector("b").firstChild];
          const range = document.createRange();
          range.setStart(first, 5);
          range.setEnd(bold, 3);
          const passage = passageOf(range, root);
          const beyond = document.createRange();
          beyond.selectNode(document.body);
          const again = rangeOf(passage, root).toString();
          const whole = passageOf(beyond, root);
          const missing = rangeOf({ start: 3, end: 99 }, root);
          root.remove();
          return [passage, again, whole.end, missing, lengthOf("🐈a")];
        }""",
    )
    # “A 🐈 and” has 7 characters, though JavaScript counts 8.
    assert told == [{"start": 4, "end": 12, "text": "anda dog"}, "anda dog", 15, None, 2]
