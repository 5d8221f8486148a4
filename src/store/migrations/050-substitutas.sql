-- Key of the note that this one replaces, as its DPS says; null for nearly all. It waits for the event on that one.
alter table notas add column substitui text;

update notas n set substitui = substring(convert_from(d.nfse, 'UTF8') from '<chSubstda>([^<]+)</chSubstda>')
  from documentos d where n.due_at is not null and d.tenant = n.tenant and d.nota = n.id;

-- A note that waits makes two moves a look, and nobody says how long a replacement may keep it waiting.
alter table notas alter column movimentos type integer;
alter table trilha_notas alter column movimento type integer;
