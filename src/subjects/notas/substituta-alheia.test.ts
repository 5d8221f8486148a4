/**
 * A note names another party's note as the one that it replaces (D-293). It is issued when the national rules are remarks only. It reveals
 * nothing about that note, and does not affect the other provider. Real HTTP, SOAP and PostgreSQL.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { assinarCms, lerCertificado } from '../../../packages/cliente/src/index.ts';
import { request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { all, sendLote } from '../../../test/support/rps.ts';
import { NOON, startTestService } from '../../../test/support/service.ts';
import { companyOf, DECADES, type Party, partyOf, signedBy } from '../../../test/support/signatures.ts';
import { signedLot } from '../../../test/support/signed-lots.ts';
import { until } from '../../../test/support/until.ts';
import type { NotaAnswer } from '../../adn/adn.ts';
import { localAdn } from '../../adn/local.ts';
import { isKeyOfSameParty } from '../../base/book/substituicao.ts';
import { companyCertificate, pemOf, rootAuthority } from '../../documents/pki.ts';
import { buildChave, dpsIdOf, isKeyOfOther } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { retirarNota } from './operate.ts';

const [TENANT, IBGE] = ['sao-paulo', '3550308'];
const [PRESTADOR, FILIAL, ALHEIO] = ['11222333000181', '11222333000262', '88888888000191'];

const folder = freshFolder();
const [rootKeys, keys] = await Promise.all([readyKeys(), readyKeys()]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
writeFileSync(path.join(folder, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
const company = (cnpj: string): Party =>
  partyOf(keys, companyCertificate(root, companyOf(cnpj), keys.publicKey, DECADES));
const [prestador, filial, alheio] = [PRESTADOR, FILIAL, ALHEIO].map(company) as [Party, Party, Party];

/** The national environment answers the other provider's notes that the event of the replaced one is missing. */
let isEarly = false;
const EARLY: NotaAnswer = {
  kind: 'too_early',
  erros: [{ codigo: 'E1308', descricao: 'Falta o evento da nota substituída' }],
};
/** Keys in the order of sending. */
const sent: string[] = [];
const local = localAdn(() => NOON);
const adn: typeof local = {
  ...local,
  share: async (tenant, documents) => {
    sent.push(...documents.map(({ chave_acesso }) => chave_acesso));
    const answers = await local.share(tenant, documents);
    return new Map(
      [...answers].map(([chave, answer]) => [chave, isEarly && chave.slice(9, 23) === ALHEIO ? EARLY : answer]),
    );
  },
};

const { address, pool, store, world, clock } = await startTestService({
  transmission: async () => ({ adn, signer: undefined }),
});
await store.municipios.create(
  {
    tenant: TENANT,
    ambiente: 'producao',
    codigoIbge: IBGE,
    confianca: { ancoras: folder, revogados: undefined },
    regrasNacionais: 'avisa',
  },
  clock.now,
);
for (const documento of [PRESTADOR, FILIAL, ALHEIO]) await addPrestador(pool, TENANT, documento);

const NFSE = `/${TENANT}/api/v1/nfse`;
let numbered = 0;

/** Issues a note that replaces the one with this key, and returns its own key. */
async function replacing(substituida: string, who: Party, cnpj: string): Promise<string> {
  numbered += 1;
  const nDPS = String(numbered);
  const xml = exampleXml({
    ...{ tpAmb: '1', '@Id': dpsIdOf({ cLocEmi: IBGE, documento: cnpj, serie: '7', nDPS }), serie: '7', nDPS },
    ...{ 'prest/CNPJ': cnpj, 'subst/chSubstda': substituida, 'subst/cMotivo': '01' },
  });
  const headers = { 'Content-Type': 'application/xml' };
  const { status, body } = await request(address, `${NFSE}/v101`, {
    method: 'POST',
    headers,
    body: signedBy(xml, who),
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.chave_acesso;
}

const lot = (numero: string, serie: string, substituido?: string) =>
  sendLote(
    address,
    signedLot(
      [{ numero, serie, ...(substituido ? { substituido: { numero: substituido, serie, tipo: '1' } } : {}) }],
      prestador,
      { numero: `${serie}${numero}` },
    ),
    TENANT,
  );

/** Waits for a status; `passing`: milliseconds that the clock advances at each check. */
const becomes = (chave: string, status: string, passing = 0) =>
  until(async () => {
    clock.now += passing;
    const { body } = await request(address, `${NFSE}/${chave}`);
    return body.nota.status === status ? body : undefined;
  }, `${chave} is ${status}`);

/** Waits until a note was put back, and returns when it is due. */
const waits = (chave: string) =>
  until(async () => {
    const { rows } = await pool.query<{ due: Date }>(
      `select f.due_at as due from notas n join fila f on f.tenant = $1 and f.tipo = 'nota' and f.id = n.id
        where n.tenant = $1 and chave_acesso = $2 and estado = 'emitida' and f.tentativas > 0`,
      [TENANT, chave],
    );
    return rows[0]?.due.getTime();
  }, `${chave} waits`);

/** The provider cancels the note. */
const cancel = async (chave: string) => {
  const corpo = JSON.stringify({
    ...{ tipo_evento: 'cancelamento', codigo_motivo_cancelamento: '1', chave_acesso: chave },
    descricao_motivo_cancelamento: 'Serviço que não foi prestado',
  });
  const assinatura = assinarCms(
    Buffer.from(corpo),
    lerCertificado({ certificado: prestador.pem, chave: prestador.keyPem }),
    NOON,
  );
  const headers = { 'Content-Type': 'application/json', 'X-Evento-Assinatura': assinatura };
  const { status, body } = await request(address, `${NFSE}/${chave}/eventos`, { method: 'POST', headers, body: corpo });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
};

describe('a note with the key of somebody else’s in chSubstda', () => {
  let serie = 0;
  let antiga: string;
  /** A note of the provider, from the lot of the RPS 1 of a series of its own. */
  beforeEach(async () => {
    isEarly = false;
    serie += 1;
    const { documento } = await lot('1', String(serie));
    antiga = /Id="NFS(\d{50})"/.exec(documento)?.[1] ?? assert.fail(documento);
    await becomes(antiga, 'autorizada');
  });

  test('does not keep the provider from replacing its RPS by a lot (no E7)', async () => {
    const estranha = await replacing(antiga, alheio, ALHEIO);
    const { situacao, documento } = await lot('2', String(serie), '1');
    assert.deepEqual([situacao, all(documento, 'Codigo')], ['4', []]);
    const nova = /Id="NFS(\d{50})"/.exec(documento)![1]!;
    await becomes(antiga, 'cancelada');
    // A worker that held the note at its wake-up puts it back for a second; the clock advances only in this wait.
    await becomes(nova, 'autorizada', 1_000);
    await becomes(estranha, 'autorizada');
    // The provider's own substitute counts: a note is replaced once.
    await replacing(nova, prestador, PRESTADOR);
    const again = await lot('3', String(serie), '2');
    assert.deepEqual([again.situacao, all(again.documento, 'Codigo')], ['3', ['E7']]);
  });

  for (const [what, estado] of [
    ['stands', 'autorizada'],
    ['is cancelled', 'cancelada'],
  ] as const) {
    test(`is decided as if that one were not there, which ${what}`, async () => {
      if (estado === 'cancelada') await cancel(antiga);
      await becomes(antiga, estado);
      const chaves = [antiga, NO_SUCH_KEY];
      const shown = [];
      for (const chave of chaves) {
        const nota = await replacing(chave, alheio, ALHEIO);
        const { protocolo } = await becomes(nota, 'autorizada');
        shown.push([protocolo.status, protocolo.mensagem_retorno]);
      }
      assert.deepEqual(shown, [
        ['autorizado', null],
        ['autorizado', null],
      ]);
    });
  }

  test('is no matter of an event on that one: neither told of, nor woken; an operator may withdraw it', async () => {
    isEarly = true;
    const estranha = await replacing(antiga, alheio, ALHEIO);
    const due = await waits(estranha);
    assert.ok(due > clock.now);
    const evento = await cancel(antiga);
    assert.deepEqual(evento.avisos ?? [], []);
    assert.ok(!JSON.stringify(evento).includes(estranha));
    await becomes(antiga, 'cancelada');
    assert.equal(await waits(estranha), due);
    assert.equal(sent.filter((chave) => chave === estranha).length, 1);
    const by = { motivo: 'A nota substituída é de outro prestador', quem: 'maria', via: 'comando' } as const;
    assert.equal(await retirarNota(world, TENANT, estranha, by), undefined);
    await becomes(estranha, 'rascunho');
  });

  test('is not somebody else’s where the roots are one: a branch’s waits for the event, which tells of it and wakes it', async () => {
    const nova = await replacing(antiga, filial, FILIAL);
    await waits(nova);
    assert.ok(!sent.includes(nova));
    const { avisos } = await cancel(antiga);
    assert.match(avisos[0].mensagem, new RegExp(`A nota ${nova} substitui esta`));
    const { body } = await until(async () => {
      const answer = await request(address, `${NFSE}/${nova}`);
      return answer.body.protocolo.status === 'rejeitado' ? answer : undefined;
    }, 'the end of the branch’s note');
    assert.match(body.protocolo.mensagem_retorno, /E0046/);
  });
});

test('the database tells parties apart by their keys as the rest of the service does: a CPF in full, a CNPJ by its root', async () => {
  const chaveOf = (documento: string, nNFSe = '1'): string =>
    buildChave({ cMun: IBGE, ambGer: '1', documento, nNFSe, anoMes: '2611', codigo: '123456789' });
  const pairs = [
    [PRESTADOR, PRESTADOR, true],
    [PRESTADOR, FILIAL, true],
    [PRESTADOR, ALHEIO, false],
    // The roots differ only in the last character.
    ['12ABC34501DE35', '12ABC34601DE35', false],
    ['12ABC34501DE35', '12ABC34502DE35', true],
    ['52998224725', '52998224725', true],
    ['52998224725', '52998111144', false],
    // The same characters stand in the same places, but one is a CPF and the other a CNPJ.
    ['52998224725', '00052998224725', false],
  ] as const;
  for (const [own, other, same] of pairs) {
    const chaves = [chaveOf(own), chaveOf(other, '2')] as const;
    assert.equal(isKeyOfSameParty(...chaves), same, chaves.join(' '));
    assert.equal(!isKeyOfOther(chaves[1], own), same, chaves.join(' '));
  }
});
