-- The secret of an app that a session is shown, apart from the challenge of a passkey: a person may begin with both.
alter table sessoes add column segredo text;
-- passo
-- The recovery codes of an account that are not used yet, by SHA-256.
alter table contas add column codigos_reserva bytea[] not null default '{}';
