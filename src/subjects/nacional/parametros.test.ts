/**
 * The parameters of a municipality as programs of the national API ask for them. The shapes are those of the national contract: some
 * programs refuse an answer that has one field more.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Answer, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { parseDecimal } from '../../fiscal/decimal.ts';

const { address, store, pool, clock } = await startTestService();
const [IBGE, OTHER] = ['3550308', '3534401'];
await store.municipios.create({ tenant: 'com-lista', ambiente: 'producao', codigoIbge: IBGE }, clock.now);
await store.municipios.create(
  { tenant: 'sem-lista', ambiente: 'producao', codigoIbge: OTHER, aliquotaPadrao: parseDecimal('3.50') },
  clock.now,
);
for (const [codigo, nacional, aliquota, inicio, fim] of [
  ['001', '010101', '2.00', '2024-01-01', '2025-12-31'],
  ['001', '010101', '2.90', '2026-01-01', null],
  ['010', '170101', '5.00', '2026-01-01', null],
  ['011', '170101', '3.00', '2026-01-01', null],
  ['020', '140101', null, '2026-01-01', null],
  ['030', '080201', '4.00', '2026-01-01', null],
  ['031', '080201', '4.00', '2026-03-01', null],
])
  await pool.query(
    `insert into servicos_municipais (tenant, codigo, descricao, codigo_tributacao_nacional, aliquota, inicio, fim)
     values ('com-lista', $1, 'Um serviço', $2, $3, $4, $5)`,
    [codigo, nacional, aliquota, inicio, fim],
  );
const NBM = `${IBGE}0200001`;
const OF_ONE = `${IBGE}0400002`;
for (const [numero, tipo, reducao, aliquota, servicos, documentos] of [
  [NBM, 'reducao_percentual', '40.00', null, '{010101}', '{}'],
  [OF_ONE, 'aliquota_diferenciada', null, '2.00', '{}', '{11222333000181}'],
])
  await pool.query(
    `insert into beneficios_municipais (tenant, numero, descricao, tipo, reducao, aliquota, servicos, documentos, inicio, fim)
     values ('com-lista', $1, 'Um benefício', $2, $3, $4, $5, $6, '2026-01-01', '2030-12-31')`,
    [numero, tipo, reducao, aliquota, servicos, documentos],
  );

const ask = (path: string, tenant = 'com-lista'): Promise<Answer> =>
  request(address, `/${tenant}/parametrizacao/${path}`);

async function aliquotasOf(path: string, tenant?: string): Promise<unknown> {
  const { status, body } = await ask(path, tenant);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ['aliquotas', 'mensagem']);
  return body.aliquotas;
}

/** A refusal that programs read: the status, and `mensagem` at the top. */
async function refusedAt(path: string, status: number, mensagem: RegExp, tenant?: string): Promise<void> {
  const { status: given, body } = await ask(path, tenant);
  assert.equal(given, status, `${path}: ${JSON.stringify(body)}`);
  assert.match(body.mensagem, mensagem, path);
  assert.equal(body.erros[0].codigo, body.codigo);
  assert.equal(body.parametrosConvenio ?? body.aliquotas ?? body.beneficio, undefined);
}

const NOW = { Incidencia: 'SIM', Aliq: 2.9, DtIni: '2026-01-01T00:00:00', DtFim: null };
const BEFORE = { Incidencia: 'SIM', Aliq: 2, DtIni: '2024-01-01T00:00:00', DtFim: '2025-12-31T00:00:00' };

describe('the agreement', () => {
  test('says that the municipality shares its notes, and nothing that is not known here', async () => {
    const { status, body } = await ask(`${IBGE}/convenio`);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['parametrosConvenio', 'mensagem']);
    assert.deepEqual(body.parametrosConvenio, { aderenteAmbienteNacional: 1 });
  });

  test('of another municipality is not known here; the shared sandbox knows every one that exists', async () => {
    await refusedAt(`${OTHER}/convenio`, 404, /3550308 \(São Paulo\/SP\)/);
    assert.equal((await ask(`${OTHER}/convenio`, 'integracao')).status, 200);
    await refusedAt('9999999/convenio', 404, /9999999/, 'integracao');
    await refusedAt(`${IBGE}/convenio`, 404, /nenhum dos atendidos/, 'nao-ha');
  });
});

describe('the rate of a service', () => {
  test('is that of the list at the competence, by every way of writing the code and the day', async () => {
    for (const code of ['01.01.01.000', '010101000', '01.01.01', '010101'])
      for (const day of ['2026-11-21', '2026-11-21T12:00:00', '11-21-2026'])
        assert.deepEqual(await aliquotasOf(`${IBGE}/${code}/${day}/aliquota`), { '01.01.01.000': [NOW] });
    assert.deepEqual(await aliquotasOf(`${IBGE}/01.01.01.000/2025-06-01/aliquota`), { '01.01.01.000': [BEFORE] });
    assert.deepEqual(await aliquotasOf(`${IBGE}/01.01.01.001/2026-11-21/aliquota`), { '01.01.01.001': [NOW] });
  });

  test('has the municipal codes where it depends on them, and the code asked for where all agree', async () => {
    const of = (Aliq: number, DtIni = '2026-01-01T00:00:00') => ({ Incidencia: 'SIM', Aliq, DtIni, DtFim: null });
    assert.deepEqual(await aliquotasOf(`${IBGE}/17.01.01.000/2026-11-21/aliquota`), {
      '17.01.01.010': [of(5)],
      '17.01.01.011': [of(3)],
    });
    assert.deepEqual(await aliquotasOf(`${IBGE}/17.01.01.011/2026-11-21/aliquota`), { '17.01.01.011': [of(3)] });
    assert.deepEqual(await aliquotasOf(`${IBGE}/08.02.01.000/2026-11-21/aliquota`), {
      '08.02.01.000': [of(4), of(4, '2026-03-01T00:00:00')],
    });
  });

  test('has a history', async () => {
    assert.deepEqual(await aliquotasOf(`${IBGE}/01.01.01.000/historicoaliquotas`), { '01.01.01.000': [BEFORE, NOW] });
  });

  test('without a list is the general one, for codes that exist; its periods are not known', async () => {
    const day = '2026-11-21';
    const entry = { Incidencia: 'SIM', Aliq: 3.5, DtIni: `${day}T00:00:00`, DtFim: null };
    const given = await aliquotasOf(`${OTHER}/01.01.01.000/${day}/aliquota`, 'sem-lista');
    assert.deepEqual(given, { '01.01.01.000': [entry] });
    await refusedAt(`${OTHER}/01.01.01.000/historicoaliquotas`, 404, /alíquota/, 'sem-lista');
    await refusedAt(`${OTHER}/99.99.99.000/${day}/aliquota`, 404, /alíquota/, 'sem-lista');
    await refusedAt(`${OTHER}/01.01.01.777/${day}/aliquota`, 404, /alíquota/, 'sem-lista');
    await refusedAt(`${OTHER}/01.01.01.000/${day}/aliquota`, 404, /pAliq/, 'integracao');
  });

  test('that the list lacks is not known, and what cannot be read is told', async () => {
    await refusedAt(`${IBGE}/01.02.01.000/2026-11-21/aliquota`, 404, /pAliq/);
    await refusedAt(`${IBGE}/14.01.01.000/2026-11-21/aliquota`, 404, /pAliq/);
    await refusedAt(`${IBGE}/01.01.01.000/2023-12-31/aliquota`, 404, /pAliq/);
    await refusedAt(`${IBGE}/17.01.01.001/2026-11-21/aliquota`, 404, /pAliq/);
    await refusedAt(`${IBGE}/1.1/2026-11-21/aliquota`, 400, /6 ou 9 dígitos/);
    for (const day of ['2026-02-30', '21-11-2026', 'hoje', '2026-11'])
      await refusedAt(`${IBGE}/01.01.01.000/${day}/aliquota`, 400, /2026-11-21/);
    await refusedAt(`${OTHER}/01.01.01.000/2026-11-21/aliquota`, 404, /São Paulo/);
  });
});

describe('a benefit', () => {
  test('that serves every provider is told by the contract’s names', async () => {
    const { status, body } = await ask(`${IBGE}/${NBM}/2026-11-21/beneficio`);
    assert.equal(status, 200, JSON.stringify(body));
    const vigencia = { dataInicioVigencia: '2026-01-01T00:00:00', dataFimVigencia: '2030-12-31T00:00:00' };
    assert.deepEqual(body.beneficio, {
      codigoBeneficio: NBM,
      ...vigencia,
      tipoBeneficio: 2,
      reducaoPercentualBC: 40,
      aliquotaDiferenciada: null,
      servicos: [{ codigoServico: '01.01.01.000', ...vigencia }],
      contribuintes: null,
    });
  });

  test('of named providers is told as one that does not exist', async () => {
    const [there, away] = [
      await ask(`${IBGE}/${OF_ONE}/2026-11-21/beneficio`),
      await ask(`${IBGE}/1/2026-11-21/beneficio`),
    ];
    assert.deepEqual([there.status, there.body.mensagem], [404, away.body.mensagem]);
    await refusedAt(`${IBGE}/${NBM}/2031-01-01/beneficio`, 404, /benefício/);
    await refusedAt(`${IBGE}/${NBM}/ontem/beneficio`, 400, /competência/);
  });
});

test('what no list here holds is not known, in the same shape', async () => {
  for (const path of [`${IBGE}/01.01.01.000/2026-11-21/regimes_especiais`, `${IBGE}/2026-11-21/retencoes`])
    await refusedAt(path, 404, /parametrizacao/);
});
