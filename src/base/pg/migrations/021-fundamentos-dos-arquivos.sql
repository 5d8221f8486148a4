-- By what the signatures of a month in the archive were judged (`fundamentos`), so that nobody reads its file to know. Null: from before
-- this was kept.
alter table arquivos add column fundamentos integer[];
