-- What the national environment answered about a note or an event, as it came, beside the move that it led to; and by what a note was judged
-- as it was issued.

-- First line: status and host, or why nothing came; then the text of the answer, without what it says of other documents.
-- Null: the move follows from no answer, or is from before this was kept.
alter table trilha_notas add column resposta text;

-- passo
alter table trilha_eventos add column resposta text;

-- passo
-- Version and commit of the program: its rules, layouts and catalogs. Null: from before this was kept.
alter table documentos add column programa text;

-- passo
-- The remarks of the positive answer, a list in JSON, as they were told. Null: there were none.
alter table documentos add column avisos text;
