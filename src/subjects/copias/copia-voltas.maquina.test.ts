/** Three restorations, to earlier and earlier moments, while a reader of changes and a webhook receiver go on: nothing is given twice. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { casaOf, connectTo, freshCopias, untilArchived, untilDecided } from '../../../test/support/copia.ts';
import { confirmAvisos } from '../../../test/support/desafio.ts';
import { balcao, CANCELAMENTO } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { readyDataDir, startServiceProcess } from '../../../test/support/process.ts';
import { until } from '../../../test/support/until.ts';

const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;
/** The provider of the example. */
const PRESTADOR = '11222333000181';
const API = '/integracao/api/v1';

type Told = { readonly id: string; readonly cursor: string; readonly tipo: string; readonly chave_acesso: string };

test('nothing is given twice by three restorations to earlier and earlier moments', {
  skip: noServer,
  timeout: 580_000,
}, async () => {
  const casa = casaOf(await readyDataDir(), await freshCopias(), { NFSE_AVISOS_PRIVADOS: '1' });
  let service = await startServiceProcess(casa.env);
  const address = (): string => service.address;
  let dps = 0;
  const issue = () => {
    dps += 1;
    return balcao(address()).issue({ serie: '9', nDPS: String(dps) });
  };

  /** All messages, by their identifiers, with each text under it. */
  const received = new Map<string, Set<string>>();
  const receiver = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk) => (text += chunk));
    incoming.on('end', () => {
      if (confirmAvisos(text, response)) return;
      received.getOrInsertComputed(String(incoming.headers['webhook-id']), () => new Set()).add(text);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  after(() => receiver.close());
  const { port } = receiver.address() as { port: number };

  const call = (path: string, token?: string, body?: object) =>
    request(address(), `${API}/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const escopos = ['consultar', 'webhooks'];
  const { token } = (await call('token', undefined, { documento: PRESTADOR, escopos })).body;
  const { status } = await call('webhooks', token, { url: `http://127.0.0.1:${port}/avisos` });
  assert.equal(status, 201);

  /** All changes that the reader got: its cursor goes on after each restoration. */
  const followed: Told[] = [];
  let cursor = '';
  const follow = async (): Promise<void> => {
    for (let more = true; more; ) {
      const { status, body } = await call(`mudancas?limite=1000&desde=${cursor}`, token);
      assert.equal(status, 200, JSON.stringify(body));
      followed.push(...body.mudancas);
      cursor = body.cursor;
      more = body.mais;
    }
  };

  const ids = new Map<string, string>();
  const nDFSe = new Map<string, string>();
  /** Issues and cancels notes, and waits until all changes were read and delivered. The new identifiers must be unique. */
  let phase = 0;
  const work = async (): Promise<Date> => {
    phase += 1;
    for (let one = 0; one < 8; one += 1) await issue();
    const nota = await issue();
    await until(async () => {
      const { body } = await call(`nfse/${nota.chave_acesso}`);
      return body.nota.status === 'autorizada' || undefined;
    }, 'the note is authorised');
    await balcao(address()).registered(nota, { ...CANCELAMENTO, cnpj_autor: PRESTADOR });
    const client = await connectTo(casa.location);
    try {
      await untilDecided(client);
      await until(async () => {
        const { rows } = await client.query(`select 1 from entregas where estado = 'pendente' limit 1`);
        return rows.length === 0 || undefined;
      }, 'all is told');
      const clock = await client.query<{ at: Date }>('select now() as at');
      await untilArchived(client, casa.copias);
      await follow();
      const { rows } = await client.query<{ id: string; chave: string; n: string }>(`
        select n.id::text, n.chave_acesso as chave, n.id::text as n from notas n where n.tenant = 'integracao'
        union all select e.id::text, 'evento ' || e.id, e.id::text from eventos e where e.tenant = 'integracao'`);
      for (const { id, chave } of rows) {
        assert.equal(ids.get(id) ?? chave, chave, `${id} is of two`);
        ids.set(id, chave);
      }
      for (const { chave } of rows.filter(({ chave }) => !chave.startsWith('evento'))) {
        const number = /<nDFSe>(\d+)</.exec(JSON.stringify((await call(`nfse/${chave}`)).body))?.[1];
        if (number === undefined) continue;
        assert.equal(nDFSe.get(number) ?? chave, chave, `the nDFSe ${number} is of two notes`);
        nDFSe.set(number, chave);
      }
      // The reader has the last change of each note in this database.
      const told = new Set(followed.map(({ chave_acesso, tipo }) => `${chave_acesso} ${tipo}`));
      const states = await client.query<{ chave_acesso: string; estado: string }>(
        `select chave_acesso, estado from notas where tenant = 'integracao' and prestador_cpf_cnpj = '${PRESTADOR}'`,
      );
      const silent = states.rows.filter(({ chave_acesso, estado }) => !told.has(`${chave_acesso} nota.${estado}`));
      assert.deepEqual(silent, [], `after restoration ${phase - 1}`);
      return clock.rows[0]!.at;
    } finally {
      await client.end();
    }
  };

  await issue();
  await casa.done('fazer');
  const moments = [await work(), await work(), await work()];
  for (const at of moments.toReversed()) {
    await service.end('SIGINT');
    await casa.done('restaurar', '--ate', at.toISOString(), '--guardar-atual');
    service = await startServiceProcess(casa.env);
    await work();
  }
  await service.end('SIGINT');

  const places = followed.map(({ cursor }) => cursor);
  assert.equal(new Set(places).size, places.length, 'a place was given twice');
  assert.equal(new Set(followed.map(({ id }) => id)).size, followed.length, 'two changes have one identifier');
  for (const [id, texts] of received) assert.equal(texts.size, 1, `two texts under ${id}`);
  const sent = new Set(received.keys());
  assert.deepEqual(
    followed.filter(({ id }) => !sent.has(`integracao.${id}`)),
    [],
  );
  assert.ok(
    phase === 6 && followed.length > 100 && nDFSe.size > 20,
    `${followed.length} changes, ${nDFSe.size} numbers`,
  );
});
