/** Services on one database, as if on separate machines: their shared counts, and the delay until a change applies to all of them. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { Db } from '../src/base/pg/open.ts';
import { companyCertificate, pemOf, rootAuthority } from '../src/documents/pki.ts';
import { createRestDoor } from '../src/doors/rest/door.ts';
import { CADASTRO_LIDO_MS } from '../src/fiscal/ambiente.ts';
import { dpsIdOf } from '../src/fiscal/chave.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { operatePrestador } from '../src/subjects/cadastros/prestadores.ts';
import { createStore } from '../src/wiring/store.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseHere } from './support/cli.ts';
import { databaseUrlOf, freshDatabase, poolOn } from './support/database.ts';
import { type Answer, request } from './support/http.ts';
import { readyKeys } from './support/keys.ts';
import { addPrestador } from './support/municipio.ts';
import { freshFolder } from './support/openssl.ts';
import { pace } from './support/pace.ts';
import { startTestService } from './support/service.ts';
import { companyOf, PROVIDER_CNPJ, partyOf, signedBy, yearAround } from './support/signatures.ts';
import { unlessStoodStill } from './support/standstill.ts';
import { SERVING, type Started, said, start } from './support/started.ts';

const TOWN = 'sao-paulo';
const IBGE = '3550308';

type Machine = { readonly service: Started; readonly address: string };

async function twoMachines() {
  const database = await freshDatabase();
  const pool = await poolOn(database);
  const env = { DATABASE_URL: databaseUrlOf(database), PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '0', NFSE_PROCESSOS: '1' };
  const machines = await Promise.all(
    [1, 2].map(async (): Promise<Machine> => {
      const service = start(['bin/nfse', 'serve'], env);
      return { service, address: (await said(service, SERVING))[1]! };
    }),
  );
  const end = async (): Promise<void> => {
    for (const { service } of machines) {
      service.child.kill('SIGTERM');
      assert.equal(await service.ended, 0, service.output());
    }
  };
  return { pool, machines, end };
}

describe('a machine without the files of a municipality', () => {
  test('says so to its operator and to a monitor of its own, and to nobody else', async () => {
    const { address, pool, world } = await startTestService({ worker: false });
    await openTown(pool);
    const ready = async (headers = {}): Promise<unknown> => (await request(address, '/health/ready', { headers })).body;
    const here = await nfseHere(['municipio', 'conferir'], pool);
    assert.deepEqual([here.code, here.out], [0, `${TOWN}: os arquivos estão no lugar e legíveis por este usuário.\n`]);
    assert.deepEqual(await ready(), { status: 'OK' });
    await pool.query(`update municipios set ancoras = '/outra/maquina' where tenant = $1`, [TOWN]);
    const elsewhere = await nfseHere(['municipio', 'conferir'], pool);
    assert.equal(elsewhere.code, 1);
    assert.equal(elsewhere.out, `${TOWN}: PROBLEMA: --ancoras: a pasta /outra/maquina não existe.\n`);
    // A new process has no older values in memory.
    const door = await createRestDoor(world, { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false });
    onEnd(() => door.close());
    const other = door.address;
    assert.deepEqual((await request(other, '/health/ready')).body, { status: 'OK', municipios_sem_arquivos: [TOWN] });
    for (const headers of [{ 'X-Forwarded-For': '192.0.2.1' }, { Forwarded: 'for=192.0.2.1' }])
      assert.deepEqual((await request(other, '/health/ready', { headers })).body, { status: 'OK' });
  });
});

describe('two services on one database', () => {
  // A standstill of a minute would restore the whole allowance.
  test('tell an address sixty times together that something is not there', () => unlessStoodStill(countTogether));

  async function countTogether(): Promise<void> {
    const { pool, machines, end } = await twoMachines();
    const unknown = `/integracao/api/v1/nfse/${'3'.repeat(50)}`;
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, place) => request(machines[place % 2]!.address, unknown)),
    );
    // Both services share one count; its allowance is used up, except for the part that has returned since.
    const { rows } = await pool.query(`select resta from contagens where contagem = 'faltas'`);
    const seconds = (performance.now() - began) / 1_000;
    const told = answers.filter(({ status }) => status === 404).length;
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [404, 429]);
    // One more is allowed each second.
    assert.ok(told >= 60 && told <= 61 + seconds, `${told} in ${seconds} s`);
    assert.equal(rows.length, 1);
    assert.ok(rows[0].resta <= 1 + seconds, `${rows[0].resta} after ${seconds} s`);
    await end();
  }

  test(`issue nothing for a blocked provider that was asked for ${CADASTRO_LIDO_MS / 1_000} seconds after`, async () => {
    const { pool, machines, end } = await twoMachines();
    const sign = await openTown(pool);
    let number = 0;
    const issue = async (address: string): Promise<{ readonly sentAt: number; readonly answer: Answer }> => {
      number += 1;
      const body = sign(number);
      const sentAt = performance.now();
      const headers = { 'Content-Type': 'application/xml' };
      return { sentAt, answer: await request(address, `/${TOWN}/api/v1/nfse/v101`, { method: 'POST', headers, body }) };
    };
    for (const { address } of machines) {
      const { answer } = await issue(address);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    const registry = { store: createStore(pool), now: Date.now };
    const by = { quem: 'teste', via: 'comando', motivo: 'processo' } as const;
    const blocked = await operatePrestador(
      registry,
      TOWN,
      { documento: PROVIDER_CNPJ },
      { acao: 'bloquear', confirmado: false },
      by,
    );
    assert.deepEqual(blocked, { estabelecimentos: 1 });
    const blockedAt = performance.now();
    const lines = machines.map(async ({ address }) => {
      for (;;) {
        const { sentAt, answer } = await issue(address);
        const codes = (answer.body.erros ?? []).map(({ codigo }: { readonly codigo: string }) => codigo);
        if (sentAt > blockedAt + CADASTRO_LIDO_MS) {
          assert.deepEqual([answer.status, codes], [403, ['E102']], `${sentAt - blockedAt} ms after`);
          return;
        }
        assert.ok(answer.status === 201 || codes[0] === 'E102', JSON.stringify(answer.body));
        await pace(20);
      }
    });
    await Promise.all(lines);
    await end();
  });
});

/** A municipality in production with one provider; the result makes its signed documents from their numbers. */
async function openTown(pool: Db): Promise<(number: number) => string> {
  const [rootKeys, keys] = await Promise.all([readyKeys(), readyKeys()]);
  const year = yearAround(Date.now());
  const root = rootAuthority('AC Raiz de Teste', rootKeys, year);
  const party = partyOf(keys, companyCertificate(root, companyOf(PROVIDER_CNPJ), keys.publicKey, year));
  const ancoras = freshFolder();
  writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
  const town = {
    tenant: TOWN,
    ambiente: 'producao',
    codigoIbge: IBGE,
    confianca: { ancoras, revogados: undefined },
  } as const;
  assert.ok(await createStore(pool).municipios.create(town, Date.now()));
  await addPrestador(pool, TOWN, PROVIDER_CNPJ);
  return (number) => {
    const [serie, nDPS] = ['1', String(number)];
    const id = dpsIdOf({ cLocEmi: IBGE, documento: PROVIDER_CNPJ, serie, nDPS });
    return signedBy(exampleXml({ tpAmb: '1', '@Id': id, serie, nDPS }), party);
  };
}
