-- What the national environment answered about a note or an event, as it came, beside the move that it led to: status and host, or why nothing
-- came, and below the text without what it says of other documents. With the first move of a note: version and commit of the program that
-- judged it, and below the remarks that were told, as JSON. Not beside the documents: a column of text more, and the planner took a month
-- that has just begun for so small that it read it by a part of its key. Null: from before this was kept, or the move follows from no answer.
alter table trilha_notas add column resposta text;

-- passo
alter table trilha_eventos add column resposta text;
