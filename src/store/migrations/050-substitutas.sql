-- Key of the note that this one replaces, as its DPS says; null for nearly all. It waits for the event on that one.
-- A note that waits makes two moves a look, and nobody says how long a replacement may keep it waiting: its moves outgrow a
-- smallint. To change the type of a column writes the whole table anew under a lock, so another column takes its place.
create function movimentos_largos() returns trigger language plpgsql as $$
begin
  new.movimentos_largo := new.movimentos;
  return new;
end $$;
create function movimento_largo() returns trigger language plpgsql as $$
begin
  new.movimento_largo := new.movimento;
  return new;
end $$;

-- passo
alter table notas add column substitui text, add column movimentos_largo integer;
create trigger movimentos_largos before insert or update on notas for each row execute function movimentos_largos();

-- passo
alter table trilha_notas add column movimento_largo integer;
create trigger movimento_largo before insert or update on trilha_notas for each row execute function movimento_largo();

-- passo
-- lotes: notas id
update notas set movimentos_largo = movimentos where tenant = $1 and id > $2 and id <= $3 and movimentos_largo is null;

-- passo
-- lotes: notas id
update notas n set substitui = substring(convert_from(d.nfse, 'UTF8') from '<chSubstda>([^<]+)</chSubstda>')
  from documentos d where n.tenant = $1 and n.id > $2 and n.id <= $3 and n.due_at is not null
    and d.tenant = $1 and d.nota = n.id and position('<chSubstda>'::bytea in d.nfse) > 0;

-- passo
-- lotes: trilha_notas nota
update trilha_notas set movimento_largo = movimento
  where tenant = $1 and nota > $2 and nota <= $3 and movimento_largo is null;

-- passo
alter table notas add constraint movimentos_largo check (movimentos_largo is not null) not valid;

-- passo
alter table notas validate constraint movimentos_largo;

-- passo
alter table trilha_notas add constraint movimento_largo check (movimento_largo is not null) not valid;

-- passo
alter table trilha_notas validate constraint movimento_largo;

-- passo
create unique index concurrently trilha_notas_larga on trilha_notas (tenant, nota, movimento_largo);

-- passo
drop trigger movimentos_largos on notas;
alter table notas drop column movimentos;
alter table notas rename column movimentos_largo to movimentos;
-- What is validated is known not to be null, so nothing is read.
alter table notas alter column movimentos set default 1, alter column movimentos set not null;
alter table notas drop constraint movimentos_largo;

-- passo
drop trigger movimento_largo on trilha_notas;
alter table trilha_notas drop constraint trilha_notas_pkey, drop column movimento;
alter table trilha_notas rename column movimento_largo to movimento;
alter table trilha_notas alter column movimento set not null;
alter table trilha_notas drop constraint movimento_largo;
alter table trilha_notas add constraint trilha_notas_pkey primary key using index trilha_notas_larga;

-- passo
drop function movimentos_largos;
drop function movimento_largo;
