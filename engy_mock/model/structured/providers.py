"""Rows from names to made-up values: `first name` is asked of Faker, `status` picked from a few words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

import engy_mock.model.structured.formats as formats
import engy_mock.model.structured.prose as prose
from engy_mock.vocabulary.seeds import Draws

if TYPE_CHECKING:
    from faker import Faker

Maker: TypeAlias = Callable[[Draws], str]

# What Faker is asked for, and the names that ask for it. Nothing here may depend on today's date.
FAKED = {
    "name": "name, full name, person, person name, customer, customer name, author, author name, owner, "
    "contact, "
    "contact name, recipient, sender, user full name, employee, manager, display name, passenger, guest, "
    "patient, "
    "assignee, reviewer, attendee, participant, cardholder, cardholder name, account holder, speaker, "
    "organizer",
    "first_name": "first name, given name, forename, firstname, nickname",
    "last_name": "last name, surname, family name, lastname",
    "prefix": "salutation, honorific",
    "safe_email": "email, e mail, mail, email address, contact email, idn email",
    "user_name": "user name, username, login, handle, screen name",
    "basic_phone_number": "phone, phone number, mobile, mobile number, telephone, telephone number, fax, cell",
    "street_address": "street, street address, address line, street name and number",
    "secondary_address": "address line 2, apartment, suite",
    "address": "address, full address, shipping address, billing address, home address, postal address, "
    "destination address, mailing address",
    "city": "city, city name, town, hometown, capital, birthplace, place of birth, municipality, origin, "
    "destination",
    "state": "state, province, region, state name",
    "state_abbr": "state code, state abbr",
    "postcode": "postal code, postcode, zip, zip code, zipcode, postal",
    "country": "country, country name, nationality, country of origin",
    "country_code": "country code, iso country, iso country code, country iso, alpha 2",
    "company": "company, company name, organization, organisation, employer, vendor, supplier, manufacturer, "
    "brand, organization name, vendor name, merchant, merchant name, publisher, business name, "
    "supplier name, "
    "airline",
    "job": "job, job title, occupation, profession, position title, role title",
    "color_name": "color, colour, color name, colour name, favorite color",
    "currency_code": "currency, currency code, iso currency, target currency, source currency",
    "currency_name": "currency name",
    "iban": "iban, account iban",
    "swift": "swift, bic, swift code, swift bic",
    "bban": "account number, bank account, bank account number",
    "credit_card_number": "card number, credit card, credit card number",
    "isbn13": "isbn, isbn 13",
    "ean13": "ean, barcode, gtin, upc",
    "language_name": "language, language name",
    "license_plate": "license plate, number plate, plate",
    "mac_address": "mac, mac address",
    "catch_phrase": "slogan, tagline, catch phrase",
}
PROVIDERS = (
    *("address", "automotive", "bank", "barcode", "color", "company", "credit_card", "currency", "internet"),
    *("isbn", "job", "lorem", "person", "phone_number"),
)
_faker_lock = Lock()


def one_of(*values: str) -> Maker:
    """One of these values."""
    return lambda draws: draws.pick(values)


def code(draws: Draws) -> str:
    """Letters, a dash and digits."""
    return f"{draws.pick(prose.NOUNS)[:3].upper()}-{1000 + draws.below(9000)}"


def path(draws: Draws) -> str:
    """Where a file might be."""
    return f"/{prose.word(draws)}/{prose.word(draws)}.txt"


def version(draws: Draws) -> str:
    """Three numbers with dots between."""
    return f"{1 + draws.below(5)}.{draws.below(10)}.{draws.below(20)}"


def year(draws: Draws) -> str:
    """A year not long ago."""
    return str(1990 + draws.below(36))


MADE: tuple[tuple[Maker, str], ...] = (
    (
        formats.uri,
        "url, uri, link, website, homepage, href, web site, callback url, image url, page url, site, iri, "
        "web page",
    ),
    (formats.hostname, "domain, domain name, hostname, host, host name, server"),
    (formats.ipv4, "ip, ip address, ipv 4, client ip"),
    (formats.ipv6, "ipv 6"),
    (formats.uuid, "uuid, guid"),
    (formats.color, "hex color, color hex, hex colour, color code"),
    (
        formats.date,
        "date, start date, end date, due date, deadline, from date, to date, yyyy mm dd, check in, check out",
    ),
    (formats.birthday, "birthday, birth date, birthdate, date of birth, dob"),
    (
        formats.date_time,
        "timestamp, date time, datetime, created at, updated at, deleted at, created, updated, modified at, "
        "start time, end time, starts at, ends at, published at, due at, expires at, occurred at, iso 8601",
    ),
    (formats.clock_time, "time, time of day, opening time, closing time"),
    (
        one_of(
            *("Lisbon, Portugal", "Oslo, Norway", "San Francisco, CA"),
            *("Kyoto, Japan", "Austin, TX", "Paris, France"),
        ),
        "location, place, city and state, city and country, venue location",
    ),
    (
        one_of("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney"),
        "timezone, time zone, tz",
    ),
    (one_of("en", "de", "fr", "es", "ja"), "language code, lang, iso language"),
    (one_of("en-US", "en-GB", "de-DE", "fr-FR", "ja-JP"), "locale"),
    (
        one_of("Desk Lamp", "Travel Mug", "Garden Chair", "Wool Blanket", "Bicycle Bell", "Water Bottle"),
        "product, product name, item, item name, article",
    ),
    (
        one_of("books", "electronics", "garden", "kitchen", "sports", "travel"),
        "category, tag, topic, genre, department, label, keyword, subject area",
    ),
    (one_of("piece", "kg", "box", "liter"), "unit, unit of measure"),
    (
        one_of("report.pdf", "notes.txt", "photo.jpg", "table.csv", "readme.md"),
        "file, file name, filename, attachment",
    ),
    (
        one_of("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        "weekday, day of week",
    ),
    (one_of("female", "male", "nonbinary"), "gender, sex"),
    (
        one_of(
            *("opening hours of the museum", "best way to store bread"),
            *("train from Oslo to Bergen", "used bicycles"),
        ),
        "query, search, search query, q, search term, question",
    ),
    (one_of("active", "pending", "completed", "draft"), "status, phase"),
    (one_of("low", "medium", "high"), "priority, severity, level, difficulty, urgency, risk"),
    (one_of("positive", "neutral", "negative"), "sentiment, mood"),
    (path, "path, file path, filepath"),
    (version, "version, semver"),
    (year, "year, model year, release year, publication year"),
    (
        code,
        "code, sku, id, identifier, reference, order id, order number, invoice number, product code, "
        "serial number, "
        "tracking number, ticket, reference number, confirmation number, flight number",
    ),
    (
        prose.title,
        "title, heading, headline, event, project, project name, event name, team, book title, subject",
    ),
    (
        prose.sentence,
        "description, summary, text, message, comment, note, reason, explanation, answer, content, "
        "caption, bio, "
        "review, feedback, reasoning, rationale, details, remark, instruction, output, response, thought, "
        "step, "
        "recommendation, conclusion, goal, prompt, subtitle, objective, finding",
    ),
    (prose.paragraph, "body, paragraph, article text, long description, abstract"),
    (prose.slug, "slug, key"),
    (
        prose.word,
        "attribute name, field name, column name, table name, variable name, parameter name, tag name, "
        "attribute, field, column, table, variable, parameter, property, property name",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Where numbers of a name usually lie, and with how many decimals."""

    low: int
    high: int
    decimals: int = 2


NUMBERS: tuple[tuple[Range, str], ...] = (
    (Range(low=18, high=90, decimals=0), "age"),
    (
        Range(low=1990, high=2025, decimals=0),
        "year, model year, release year, birth year, publication year",
    ),
    (Range(low=1, high=12, decimals=0), "month"),
    (Range(low=1, high=28, decimals=0), "day, day of month"),
    (Range(low=0, high=23, decimals=0), "hour"),
    (Range(low=0, high=59, decimals=0), "minute, second"),
    (
        Range(low=5, high=500),
        "price, amount, total, cost, subtotal, balance, fee, tax, budget, unit price, discount, revenue, "
        "payment, "
        "shipping cost, total price, total amount, amount due, max price, min price, value",
    ),
    (Range(low=30_000, high=120_000, decimals=0), "salary, income, mileage"),
    (
        Range(low=1, high=20, decimals=0),
        "quantity, count, qty, number, stock, seats, guests, num, n, max results, days, number of guests, "
        "top k, k, "
        "copies, people, passengers, nights, servings",
    ),
    (Range(low=1, high=50, decimals=0), "limit, page size, per page"),
    (
        Range(low=1, high=10, decimals=0),
        "page, page number, position, rank, index, line, level, step, order, priority",
    ),
    (Range(low=0, high=10, decimals=0), "offset"),
    (Range(low=1, high=5, decimals=1), "rating, stars, review score"),
    (
        Range(low=0, high=1),
        "score, confidence, probability, ratio, confidence score, relevance, threshold, similarity, "
        "relevance score, likelihood",
    ),
    (Range(low=0, high=100, decimals=1), "percent, percentage, progress, humidity"),
    (Range(low=-60, high=70, decimals=5), "latitude, lat"),
    (Range(low=-180, high=180, decimals=5), "longitude, lon, lng, long"),
    (Range(low=-5, high=35, decimals=1), "temperature, temp, celsius"),
    (
        Range(low=1, high=200, decimals=1),
        "weight, weight kg, height, height cm, width, length, depth, size, distance, distance km, radius",
    ),
    (Range(low=1024, high=65_535, decimals=0), "port"),
    (Range(low=1, high=180, decimals=0), "duration, minutes, seconds, duration minutes, timeout"),
    (Range(low=1_000, high=99_999, decimals=0), "id, identifier, order id, user id, code"),
    (
        Range(low=1_577_836_800, high=1_735_689_600, decimals=0),
        "timestamp, created at, updated at, created, epoch",
    ),
)


def number_text(usual: Range) -> Maker:
    """Decimals of the range as a text: a price may well be a string."""
    scale = 10**usual.decimals

    def make(draws: Draws) -> str:
        return f"{usual.low + draws.below((usual.high - usual.low) * scale + 1) / scale:.{usual.decimals}f}"

    return make


@cache
def makers() -> dict[str, Maker]:
    """How a text is made, by the name that asks for it."""
    rows = [(_faked(provider), names) for provider, names in FAKED.items()] + list(MADE)
    return {name: maker for maker, names in rows for name in names.split(", ")}


@cache
def ranges() -> dict[str, Range]:
    """Where a number lies, by its name."""
    return {name: usual for usual, names in NUMBERS for name in names.split(", ")}


@cache
def _faker() -> Faker:
    """One generator for the process; it takes a while to load, so not before it is needed."""
    from faker import Faker

    names = [f"faker.providers.{provider}" for provider in PROVIDERS]
    return Faker("en_US", providers=names)


def _faked(provider: str) -> Maker:
    """The provider as a maker: Faker begins anew for each value, so no value depends on the one before."""

    def make(draws: Draws) -> str:
        seed = draws.below(1 << 32)
        with _faker_lock:
            faker = _faker()
            faker.seed_instance(seed)
            return str(getattr(faker, provider)()).replace("\n", ", ")

    return make
