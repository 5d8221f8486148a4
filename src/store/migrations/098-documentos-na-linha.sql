-- Documents of less than a page stand in their row: out of line they are pieces of 2 kB, each with a row and an index entry of its own.
-- What is stored already stays where it is.
alter table documentos set (toast_tuple_target = 8160);
