-- The arms of a municipality, as they are shown: an image of our own making, under its SHA-256. A municipality without arms has no row.
create table brasoes (
  tenant text primary key references municipios,
  impressao text not null,
  png bytea not null
);
alter table brasoes alter column tenant set statistics 0;

-- The SHA-256 of the arms, which the pages name; and the colour of the bar, as #1351b4.
alter table municipios add column brasao text;
alter table municipios add column cor text;
