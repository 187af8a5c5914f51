"""The modules that keep and send what was judged, each by itself, in the browser that will run them."""

from collections.abc import Iterator

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


def test_the_outbox_keeps_its_order_over_pages_and_knows_whose_it_is(blank: Page) -> None:
    told = module(
        blank,
        "outbox",
        """async ({ Outbox }) => {
          const entry = (person, tab, id) => ({ person, address: "/a", tab, refused: null, act: { id } });
          const first = await Outbox.open(1);
          for (const id of ["c", "a", "b"]) first.add(entry(1, "t1", id));
          await first.add(entry(1, "t2", "d"));
          await (await Outbox.open(2)).add(entry(2, "t3", "x"));
          await first.remove(["a"]);
          await first.refuse([{ id: "c", status: 409, sentence: "Closed." }]);
          const second = await Outbox.open(1);
          const ids = (entries) => entries.map((one) => one.act.id);
          const left = [ids(second.entries), ids(await second.next(50)), second.entries[0].refused.sentence];
          await second.retry();
          const third = await Outbox.open(1);
          left.push(ids(await third.next(50)), ids(await third.next(1)), third.lasts);
          await third.remove(["c", "b", "d"]);
          const fourth = await Outbox.open(1);
          left.push(ids(fourth.entries), fourth.hasSomethingToSend());
          return left;
        }""",
    )
    assert told == [["c", "b", "d"], ["b"], "Closed.", ["c", "b"], ["c"], True, [], False]


def test_the_outbox_keeps_what_was_saved_for_a_day_and_sends_it_again_after_a_restore(blank: Page) -> None:
    told = module(
        blank,
        "outbox",
        """async ({ Outbox }) => {
          const common = { person: 1, address: "/a", tab: "t", epoch: "old" };
          const entry = (id) => ({ ...common, act: { id, kind: "grade" } });
          const ids = (entries) => entries.map((one) => one.act.id);
          const first = await Outbox.open(1);
          for (const id of ["a", "b", "c"]) await first.add(entry(id));
          await first.acknowledge(["a", "b"], "old");
          const second = await Outbox.open(1);
          const left = [ids(second.entries), ids(second.history)];
          left.push(ids(second.savedBefore("old")), ids(second.savedBefore("new")));
          await second.sendAgain("new");
          left.push(ids(await second.next(50)), second.entries.map((one) => one.act.again ?? false));
          await second.acknowledge(["a", "b", "c"], "new");
          const now = Date.now;
          Date.now = () => now() + 25 * 60 * 60 * 1000;
          left.push(ids((await Outbox.open(1)).history));
          return left;
        }""",
    )
    assert told == [["c"], ["a", "b", "c"], [], ["a", "b"], ["a", "b", "c"], [True, True, False], []]


def test_without_indexeddb_the_outbox_lives_as_long_as_its_page(browser: Browser, running_server: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("IDBFactory.prototype.open = () => { throw new Error('no'); }")
    page.goto(f"{running_server}/sign-in")
    told = module(
        page,
        "outbox",
        """async ({ Outbox }) => {
          const outbox = await Outbox.open(1);
          await outbox.add({ person: 1, address: "/a", tab: "t", refused: null, act: { id: "a" } });
          const sent = (await outbox.next(50)).map((entry) => entry.act.id);
          await outbox.remove(["a"]);
          return [outbox.lasts, sent, outbox.entries.length];
        }""",
    )
    assert told == [False, ["a"], 0]
    context.close()


SENDING = """async ({ Sender }, { answers, entries }) => {
  const { Outbox } = await import("/static/judging/outbox.js");
  const outbox = new Outbox(1);
  for (const [id, address] of entries) outbox.add({ person: 1, address, tab: "t", refused: null, act: { id } });
  const [asked, told] = [[], []];
  const post = async (address, { acts }) => {
    asked.push([address, acts.map((act) => act.id)]);
    const answer = answers[address];
    if (answer) return { data: null, trouble: { kind: "refused", status: 403, sentence: answer } };
    return { data: { acknowledged: acts.map((act) => act.id), refused: [] }, trouble: null };
  };
  const sender = new Sender({
    ...{ outbox, link: { post }, address: "/here", tab: "t", holds: () => [], draws: () => false, wants: () => false },
    onAnswer: () => {},
    onState: ({ kind }) => told.push(kind),
  });
  sender.start();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const left = outbox.entries.map(({ act, refused }) => [act.id, refused?.sentence ?? null]);
  outbox.remove(outbox.entries.map(({ act }) => act.id));
  sender.hurry();
  return [asked, left, told.at(-1)];
}"""


@pytest.mark.parametrize(
    ("answers", "entries", "asked", "left", "state"),
    [
        (
            {"/left": "No judge."},
            [["a", "/left"], ["b", "/left"], ["c", "/other"], ["d", "/here"]],
            [["/left", ["a", "b"]], ["/other", ["c"]], ["/here", ["d"]]],
            [["a", "No judge."], ["b", "No judge."]],
            "idle",
        ),
        (
            {"/here": "No judge."},
            [["a", "/here"], ["b", "/other"]],
            [["/here", ["a"]], ["/other", ["b"]]],
            [["a", "No judge."]],
            "idle",
        ),
        # Nobody waits behind them: they are sent again by themselves, for the judge may be let in again.
        ({"/here": "No judge."}, [["a", "/here"]], [["/here", ["a"]]], [["a", None]], "refused"),
    ],
    ids=["another collection", "this one before another", "this one alone"],
)
def test_acts_for_a_collection_that_refuses_them_all_hold_up_no_others(
    blank: Page, answers: dict[str, str], entries: list[list[str]], asked: object, left: object, state: str
) -> None:
    told = module(blank, "sender", SENDING, {"answers": answers, "entries": entries})
    assert told == [asked, left, state]


def test_the_sender_goes_on_after_a_fault_in_what_hears_its_answers(blank: Page) -> None:
    told = module(
        blank,
        "sender",
        """async ({ Sender }) => {
          let [open, asked, isFaulty] = [1, 0, true];
          const outbox = {
            ...{ entries: [], next: async () => [], remove: () => {}, refuse: () => {} },
            hasSomethingToSend: () => open > 0,
          };
          const post = async () => ((asked += 1), { data: { acknowledged: [], refused: [] }, trouble: null });
          const onAnswer = () => {
            open = 0;
            if (isFaulty) throw new Error("a fault");
          };
          const sender = new Sender({
            ...{ outbox, link: { post }, address: "/a", tab: "t", holds: () => [], draws: () => true },
            ...{ wants: () => false, onAnswer, onState: () => {} },
          });
          await sender.run().catch(() => {});
          [open, isFaulty] = [1, false];
          sender.start();
          await new Promise((resolve) => setTimeout(resolve, 50));
          return asked;
        }""",
    )
    assert told == 2
