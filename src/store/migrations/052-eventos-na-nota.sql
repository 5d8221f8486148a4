-- The events of a note that others are judged by: few, however many are on their way.
create index concurrently eventos_na_nota on eventos (tenant, nota) where estado in ('processado', 'dispensado');
