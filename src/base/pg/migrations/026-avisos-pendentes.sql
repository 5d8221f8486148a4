-- Whether an address has yet to prove that it wants messages. Those from before are told as they were.
alter table webhooks add column pendente boolean not null default false;
