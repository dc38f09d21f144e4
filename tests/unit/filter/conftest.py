from workflow_scripts.core.manifest import write_record
from workflow_scripts.core.tables import TableWriter


def write_table(path, schema, rows):
    """Write a table as its stage would, with its record."""
    with TableWriter(path, schema) as table:
        for row in rows:
            table.write(row)
    write_record(path, table.rows_written, table.rows_written, {})
    return path
