"""Bytes to text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.errors import BinaryFileError, HostError
from sidelight.files.encoding import Decoded, decode, encode

JAPANESE = "# 設定ファイルを読み込みます。\nkey = 1\n"
CHINESE = "# 中文注释，读取配置文件。\nkey = 1\n"
KOREAN = "# 한국어 주석입니다. 설정 파일을 읽습니다.\nkey = 1\n"
RUSSIAN = "# Привет мир, это комментарий\nkey = 1\n"
FRENCH = "élève créée à Noël, ça va où?\n"


def test_utf_8_is_read_as_it_is() -> None:
    assert decode("a é 😋\r\n\x0c\u2028z".encode()) == Decoded("a é 😋\r\n\x0c\u2028z", "utf-8")


@pytest.mark.req("TOOL-05")
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        ("efbbbf", "utf-8"),
        ("fffe", "utf-16-le"),
        ("feff", "utf-16-be"),
        ("fffe0000", "utf-32-le"),
        ("0000feff", "utf-32-be"),
    ],
)
def test_a_marked_text_keeps_mark_and_encoding(mark: str, encoding: str) -> None:
    """B004, B005: the mark is no part of the text and is written back."""
    data = bytes.fromhex(mark) + "hello\r\n中文 😋\n".encode(encoding)
    decoded = decode(data)
    assert decoded == Decoded("hello\r\n中文 😋\n", encoding, mark)
    assert encode(decoded.text, decoded.encoding, decoded.bom) == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_recognised(encoding: str) -> None:
    assert decode("plain text\r\n".encode(encoding)) == Decoded("plain text\r\n", encoding)


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        ("name=x\nbrand ™\n", "cp1252", "cp1252"),
        ("20 °C and 30 °F\n", "cp1252", "cp1252"),
        (FRENCH, "cp1252", "cp1252"),
        ("設定\n", "cp932", "cp932"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (JAPANESE, "iso2022_jp", "iso2022_jp"),
        (CHINESE, "gbk", "gb18030"),
        ("// 設定\n", "big5", "big5"),
        (KOREAN, "euc_kr", "cp949"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8_r", "koi8_r"),
        ("Zażółć gęślą jaźń\n", "cp1250", "cp1250"),
    ],
)
def test_texts_from_before_utf_8_are_recognised(text: str, codec: str, encoding: str) -> None:
    """B007, B008: nothing is replaced, and new text gets the file's encoding."""
    decoded = decode(text.encode(codec))
    assert decoded == Decoded(text, encoding)
    assert encode(decoded.text, decoded.encoding, decoded.bom) == text.encode(codec)


def test_half_a_surrogate_pair_in_a_file_survives() -> None:
    data = b"a\xed\xa0\x80b"
    assert decode(data) == Decoded("a\ud800b", "utf-8")
    assert encode("a\ud800b", "utf-8", "") == data
    wide = b"\xff\xfe" + b"\x00\xd8a\x00"
    assert decode(wide) == Decoded("\ud800a", "utf-16-le", "fffe")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image, not text"),
        (b"\x89PNG\r\n\x1a\nbroken, but no NUL byte", "a PNG image, not text"),
        (b"\xff\xd8\xff\xe0 broken", "a JPEG image, not text"),
        (b"\x7fELF\x02\x01\x01\0", "an ELF program or library, not text"),
        (b"PK\x03\x04\x14\0", "a ZIP archive (or an office document, a jar, a wheel), not text"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "a WebP image, not text"),
        (b"text\0more", "binary data, not text"),
        (bytes(range(1, 32)) + b"\xff" * 40, "binary data, not text"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, kind: str) -> None:
    with pytest.raises(BinaryFileError) as caught:
        decode(data)
    assert str(caught.value) == kind


def test_a_character_that_the_encoding_lacks_is_named_with_its_line() -> None:
    """B008: said, not written in a second encoding."""
    with pytest.raises(HostError) as caught:
        encode("a\nb 追\n", "cp1252", "")
    assert str(caught.value) == (
        "the file is in cp1252, which cannot hold '追' (U+8FFD CJK UNIFIED IDEOGRAPH-8FFD) of "
        "line 2; nothing was written. Use characters of that encoding, or convert the file to "
        "UTF-8 first."
    )


@given(st.binary(max_size=300))
def test_all_bytes_that_decode_are_written_back(data: bytes) -> None:
    try:
        decoded = decode(data)
    except BinaryFileError:
        return
    assert encode(decoded.text, decoded.encoding, decoded.bom) == data


@given(
    st.text(max_size=80),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "cp932", "gb18030"]),
)
def test_all_texts_in_all_encodings_are_written_back(text: str, codec: str) -> None:
    data = text.encode(codec, "ignore")
    try:
        decoded = decode(data)
    except BinaryFileError:
        return
    assert encode(decoded.text, decoded.encoding, decoded.bom) == data
