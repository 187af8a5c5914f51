"""The accounts of the site: an administrator deletes the personal data of one."""

from visiting import Visit, words

from annotator.storage import Database
from annotator.workflows.people.accounts import list_users


def names(database: Database) -> set[str]:
    return {user.name for user in database.read(list_users)}


def test_personal_data_are_deleted_only_after_confirmation(visit: Visit, news: str, database: Database) -> None:
    ada = visit("ada")
    assert news
    asked = ada.post("/people/forget", account="jo")
    assert asked.status_code == 200
    assert "Delete the personal data of “jo”?" in words(asked)
    assert 'class="button danger"' in asked.text
    assert "jo" in names(database)
    answer = ada.post("/people/forget", account="jo", confirmed="y")
    assert answer.status_code == 303
    assert "Personal data deleted. The judgements stay as those of" in words(ada.get(answer.location))
    assert "jo" not in names(database)


def test_nobody_deletes_the_data_of_an_unknown_account_or_their_own(visit: Visit, news: str) -> None:
    ada = visit("ada")
    assert news
    assert ada.post("/people/forget", account="nobody").status_code == 422
    own = ada.post("/people/forget", account="ada")
    assert (own.status_code, "Another administrator must delete your data." in words(own)) == (409, True)
