-- Events that rest without having come to anything: few, and those that an operator looks for, the newest first.
create index concurrently eventos_com_problema on eventos (tenant, desde desc)
  where due_at is null and estado in ('rejeitado', 'erro', 'erro_reprocessamento');
