-- The id of the request that brought the DPS (`X-Request-Id`), by which the line of the log leads to the note. Null: from before it was kept, or
-- of a note that no request alone brought, as those of a lot.
alter table notas add column requisicao uuid;
