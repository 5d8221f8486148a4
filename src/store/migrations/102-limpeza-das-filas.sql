-- A note and an event leave an entry behind in the index on what is due when they come to their end, and each look of the worker passes over
-- all of these until the table is vacuumed: after a twentieth of its rows, not a fifth.
alter table notas set (autovacuum_vacuum_scale_factor = 0.05);

-- passo
alter table eventos set (autovacuum_vacuum_scale_factor = 0.05);
