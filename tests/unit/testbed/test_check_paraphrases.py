import json

from workflow_scripts.testbed.check_paraphrases import main


def test_files_are_read_as_those_of_diversity(tmp_path, capsys):
    # A BOM, CRLF, and a carriage return that ends no line.
    references, paraphrases = tmp_path / "ref.txt", tmp_path / "para.txt"
    said = "The teacher signed the letter yesterday."
    references.write_bytes(f"\ufeff{said}\r\n{said}\n".encode())
    paraphrases.write_bytes(b"Yesterday, the teacher signed the letter.\nNo\rsense\n")
    main(["--references", str(references), "--paraphrases", str(paraphrases)])
    assert json.loads(capsys.readouterr().out) == {
        "pairs": 2,
        "parsed": 1,
        "same_meaning": 1,
        "copies": 0,
        "same_meaning_share": 50.0,
        "variations": {"fronting": 1},
    }
