-- A note that an operator withdraws: why, and who did; null where the service moved by itself.
alter table trilha_notas add column mensagem text, add column quem text;
