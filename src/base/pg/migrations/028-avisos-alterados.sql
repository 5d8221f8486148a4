-- Its owner changed it or switched it on while it was in hand: what comes of that batch says nothing of how it stands.
alter table webhooks add column alterado boolean not null default false;
