/**
 * The `nota` object agrees with its NFS-e in every field. The operations are drawn over all regimes and all ways to identify the parties,
 * as XML and as JSON. Nothing is stored; a row is read as the database returns it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { jsonOf, type Operacao, operacoes, rootOf, xmlOf } from '../../../test/support/operacoes.ts';
import fc from '../../../test/support/seed.ts';
import { NOTA_TYPES, type NotaNova, type NotaRow, textsOf } from '../../base/book/nota-columns.ts';
import { readJson } from '../../documents/json.ts';
import type { Facts } from '../../fiscal/facts.ts';
import { judge } from '../../fiscal/judge.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { readDps } from '../../fiscal/layout/read.ts';
import { readCorpo } from '../../fiscal/layout/read-corpo.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { EXAMPLE_FACTS } from '../../fiscal/rules/trial.ts';
import { completion } from './issue.ts';
import { notaSemXml } from './queries.ts';

const SEEDS = [1, 4, 99_991, 777_777, 20_261_121];
const OF_EACH = 1_150;
const CPF = '11144477735';
const INSTANT = Date.parse('2026-11-21T23:59:30-03:00');

/** Variations of an operation, used in turn. */
const OF_PROVIDER: readonly Patch[] = [{}, { 'prest/CNPJ': null, 'prest/CPF': CPF }, { 'prest/IM': '00012-3' }];
const OF_TAKER: readonly Patch[] = [{}, { 'toma/CPF': null, 'toma/CNPJ': '12ABC34501DE35' }, { toma: null }];
const OF_NUMBER: readonly Patch[] = [
  {},
  { serie: '00900', nDPS: '77' },
  { serie: null, nDPS: null },
  { nDPS: '999999999999999' },
];
const MEI: Patch = { 'prest/regTrib/opSimpNac': '2', 'prest/regTrib/regApTribSN': null };

function varied({ patch, membros, sorteio }: Operacao, place: number): string {
  const turn = (of: readonly Patch[], every: number): Patch => of[Math.floor(place / every) % of.length]!;
  const needsTaker =
    patch['valores/trib/tribMun/tpRetISSQN'] === '2' || sorteio.regime === 'exportacao' || sorteio.servico === '170501';
  const parties: Patch = needsTaker ? {} : { ...turn(OF_TAKER, 3), ...(place % 5 === 0 ? INTERMEDIARIO : {}) };
  const isMei = sorteio.regime === 'simples' && place % 2 === 0;
  const kept = Object.entries(patch).filter(([path]) => parties.toma !== null || !path.startsWith('toma/'));
  const own: Patch = { ...turn(OF_PROVIDER, 1), ...parties, ...turn(OF_NUMBER, 7), ...(isMei ? MEI : {}) };
  return xmlOf({ patch: { ...Object.fromEntries(kept), ...own }, membros, sorteio });
}

function dpsOf(xml: string, asJson: boolean): Dps {
  if (!asJson) {
    const read = readDps(rootOf(xml));
    return 'dps' in read ? read.dps : assert.fail(JSON.stringify(read.faults));
  }
  const json = readJson(Buffer.from(jsonOf(xml)));
  assert.ok(!('fault' in json));
  const read = readCorpo(json, { tpAmb: '2' });
  return 'dps' in read ? read.dps : assert.fail(JSON.stringify(read.faults));
}

/** A note as it is stored; undefined: the law refuses the document. */
function notaOf(xml: string, place: number): NotaNova | undefined {
  const dps = dpsOf(xml, place % 4 === 0);
  const documento = dps.prest.CNPJ ?? dps.prest.CPF!;
  const inscricaoMunicipal = place % 3 === 0 ? '54321' : undefined;
  const prestador = { ...EXAMPLE_FACTS.prestador, documento, inscricaoMunicipal, razaoSocial: 'Loja & Cia <Ltda>' };
  const facts: Facts = { ...EXAMPLE_FACTS, hoje: '2026-11-21', prestador };
  const judged = judge(dps, facts);
  if ('faults' in judged) return undefined;
  const { complete } = completion(
    { randomDigits: (count) => '7'.repeat(count) },
    { codigoIbge: undefined },
    {
      ...{ dps, facts, judged, instant: INSTANT, sent: { kind: 'xml', body: Buffer.from(xml) } },
      ...{ confianca: undefined, simular: undefined, julgamento: undefined },
    },
  );
  return complete({ numero: BigInt(place + 1), id: BigInt(place + 1_000), nDPS: 42n });
}

/** The row of an authorised note, as a list reads it. */
function rowOf(nota: NotaNova, place: number): Parameters<typeof notaSemXml>[0] {
  const texts = textsOf(nota);
  const columns = Object.fromEntries(NOTA_TYPES.map(([nome]) => [nome, texts[nome] ?? null])) as unknown as NotaRow;
  const [, prestador_cpf_cnpj] = /<prest><C(?:NPJ|PF)>(\w+)/.exec(nota.nfse)!;
  return {
    ...columns,
    id: String(place + 1_000),
    numero_dps: String(place + 1),
    prestador_cpf_cnpj: prestador_cpf_cnpj!,
    estado: 'autorizada',
    codigo_situacao_nfse: nota.codigo_situacao_nfse ?? null,
    data_emissao: new Date(nota.data_emissao),
  };
}

/** The text at a path, or null. */
function textAt(root: Elemento, path: string): string | null {
  let at: Elemento | undefined = root;
  for (const name of path.split('/')) at = at?.children.find((child) => child.name === name);
  return at?.text ?? null;
}

const attribute = ({ attributes }: Elemento, wanted: string): string =>
  attributes.find(({ name }) => name === wanted)!.value;
const spaced = (moment: string): string => moment.replace('T', ' ').replace(/([+-]\d\d):(\d\d)$/, ' $1$2');
/** The time zone of São Paulo, where all operations are issued. */
const atSaoPaulo = (instant: Date): string =>
  spaced(`${new Date(+instant - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`);

/** The fields of an authorised note with this document, and the additional fields of a list. */
function saidBy(nfse: string) {
  const root = rootOf(nfse);
  const inf = root.children.find(({ name }) => name === 'infNFSe')!;
  const of = (path: string): string | null => textAt(inf, path);
  const ofDps = (path: string): string | null => of(`DPS/infDPS/${path}`);
  const infDps = inf.children.find(({ name }) => name === 'DPS')!.children[0]!;
  const [ano, mes, dia] = ofDps('dCompet')!.split('-');
  assert.equal(of('dhProc'), ofDps('dhEmi'));
  assert.equal(of('emit/CNPJ') ?? of('emit/CPF'), ofDps('prest/CNPJ') ?? ofDps('prest/CPF'));
  const nota = {
    id: Number(of('nDFSe')),
    numero: of('nNFSe'),
    serie_dps: ofDps('serie'),
    numero_dps: Number(of('nNFSe')),
    serie_dps_nacional: ofDps('serie'),
    numero_dps_nacional: ofDps('nDPS'),
    chave_acesso: attribute(inf, 'Id').slice('NFS'.length),
    identificador: attribute(inf, 'Id'),
    status: 'autorizada',
    versao: attribute(root, 'versao'),
    data_emissao: spaced(of('dhProc')!),
    data_competencia: `${dia}/${mes}/${ano}`,
    codigo_situacao_nfse: Number(of('cStat')),
    prestador_cpf_cnpj: of('emit/CNPJ') ?? of('emit/CPF'),
    prestador_razao_social: of('emit/xNome'),
    prestador_inscricao_municipal: of('emit/IM'),
    tomador_cpf_cnpj: ofDps('toma/CNPJ') ?? ofDps('toma/CPF'),
    tomador_razao_social: ofDps('toma/xNome'),
    valor_servico: ofDps('valores/vServPrest/vServ'),
    valor_issqn: of('valores/vISSQN') ?? '0.00',
    valor_base_calculo: of('valores/vBC') ?? '0.00',
    aliquota_issqn: of('valores/pAliqAplic') ?? '0.00',
  };
  const listed = {
    intermediario_cpf_cnpj: ofDps('interm/CNPJ') ?? undefined,
    servico: ofDps('serv/cServ/cTribNac'),
    id_dps: attribute(infDps, 'Id'),
  };
  return { nota, listed };
}

test('every field of five thousand drawn notes is what the document says', () => {
  const codes = new Map<number | null, number>();
  let compared = 0;
  for (const seed of SEEDS) {
    for (const [place, operacao] of fc.sample(operacoes, { seed, numRuns: OF_EACH }).entries()) {
      const stored = notaOf(varied(operacao, place), place);
      if (stored === undefined) continue;
      compared += 1;
      const { nota, listed } = saidBy(stored.nfse);
      const row = rowOf(stored, place);
      const shown = notaSemXml(row, atSaoPaulo);
      assert.deepEqual(shown, nota, stored.nfse);
      const { intermediario_cpf_cnpj, servico, id_dps } = stored;
      assert.deepEqual({ intermediario_cpf_cnpj, servico, id_dps }, listed);
      codes.set(shown.codigo_situacao_nfse, (codes.get(shown.codigo_situacao_nfse) ?? 0) + 1);
      // A note from before this column: its document has the code, and a list shows no wrong one.
      const before = { ...row, codigo_situacao_nfse: null };
      const withDocument = notaSemXml({ ...before, nfse: stored.nfse }, atSaoPaulo).codigo_situacao_nfse;
      assert.equal(withDocument, nota.codigo_situacao_nfse);
      assert.ok([null, nota.codigo_situacao_nfse].includes(notaSemXml(before, atSaoPaulo).codigo_situacao_nfse));
    }
  }
  assert.ok(compared >= 5_000, `${compared}`);
  assert.deepEqual([...codes.keys()].toSorted(), [100, 107]);
  assert.ok(codes.get(107)! > 100, 'notes of a MEI are among them');
});
