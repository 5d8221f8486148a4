/** A waiting note tells its cause: in full to the municipality, and in general words to the holder of its key. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { balcao, type NotaEmitida } from '../../../test/support/eventos.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { explainEspera } from './queries.ts';

const TENANT = 'integracao';
const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, clock, pool, address } = service;
const integracao = balcao(address);

let leitor: Pessoa;
let nota: NotaEmitida;
before(async () => {
  leitor = await enter(painel, await makeUsuario(painel, 'leo', { [TENANT]: 'leitura' }));
  nota = await integracao.issue();
});

const inConsole = async (): Promise<string> => (await leitor.open(`/m/${TENANT}/notas/${nota.chave_acesso}`)).html;
const inPublic = async (): Promise<string> => (await fetch(`${address}/${TENANT}/nota/${nota.chave_acesso}`)).text();
const MOTIVO = 'o servidor recusou a conexão em 10.1.2.3';

test('a note that waits for its turn alone names no cause', async () => {
  assert.match(await inConsole(), /aguarda a vez de ir ao ADN\. Não é preciso|aguarda a vez de ir ao ADN\. O serviço/);
  assert.doesNotMatch(await inPublic(), /desde/);
  assert.equal((await integracao.nota(nota)).body.protocolo.mensagem_retorno, null);
});

test('the ADN does not answer', async () => {
  await store.circuitos.note(TENANT, { abertoEm: clock.now, motivo: MOTIVO }, clock.now);
  assert.match(
    await inConsole(),
    /O ADN não responde desde 21\/11\/2026 12:00:00 \(o servidor recusou a conexão em 10\.1\.2\.3\)\./,
  );
  const shown = await inPublic();
  assert.match(shown, /O ambiente nacional não responde desde 21\/11\/2026 12:00:00\./);
  assert.ok(!shown.includes('10.1.2.3'), 'a stranger learns no address');
  const { body } = await integracao.nota(nota);
  assert.equal(body.protocolo.mensagem_retorno, 'O ambiente nacional não responde desde 21/11/2026 12:00:00.');
  await store.circuitos.note(TENANT, { abertoEm: undefined, motivo: undefined }, clock.now);
});

test('the certificate has expired', async () => {
  await store.municipios.noteProblem(TENANT, 'o certificado do município venceu em 20/11/2026', clock.now);
  assert.match(
    await inConsole(),
    /As notas do município não seguem desde 21\/11\/2026 12:00:00: o certificado do município venceu em 20\/11\/2026\./,
  );
  const shown = await inPublic();
  assert.match(shown, /O município não transmite ao ambiente nacional desde 21\/11\/2026 12:00:00\./);
  assert.ok(!shown.includes('certificado do município'), 'a stranger does not learn of the certificate');
  await store.municipios.noteProblem(TENANT, undefined, clock.now);
});

test('the municipality is closed', async () => {
  await pool.query('update municipios set fechado = true where tenant = $1', [TENANT]);
  const { municipios } = store;
  const closed = { ...(await municipios.readFresh(TENANT))! };
  assert.equal(closed.fechado, true);
  const row = (await store.notas.findByChave(TENANT, nota.chave_acesso))!;
  const causa = (await explainEspera({ store }, closed, row))!;
  assert.match(causa.diz, /fechado a gravações/);
  assert.equal(causa.geral, 'O serviço do município está em manutenção.');
});

test('a note at its end waits for nothing', async () => {
  const municipio = (await store.municipios.readFresh(TENANT))!;
  for (const estado of ['autorizada', 'cancelada', 'recusada', 'retida'] as const) {
    assert.equal(
      await explainEspera({ store }, municipio, { estado, chave_acesso: nota.chave_acesso, substitui: null }),
      undefined,
    );
  }
});
