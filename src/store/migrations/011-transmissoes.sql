-- Why the notes of a municipality are not transmitted, as the worker last saw it, for the operator. Null: solved.
create table transmissoes (
  tenant text primary key references municipios,
  problema text,
  -- Since when it is this problem.
  desde timestamptz,
  visto_em timestamptz not null,
  check ((problema is null) = (desde is null))
);
