-- The id of the request that brought the lot (`X-Request-Id`), which its notes have as well. Null: from before it was kept.
alter table lotes add column requisicao uuid;
