/**
 * A hundred drawn operations are sent to the REST door as DPS and to the legacy port as RPS. Each document is written independently. Both
 * give the same verdict, and the same amounts on the note. A third of the operations has a mistake.
 *
 * NFSE_TEST_SEMENTE=N draws the operations of a seed again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emit, request } from '../../../test/support/http.ts';
import { all, escaped, loteXml, type RpsDeTeste, sendLote } from '../../../test/support/rps.ts';
import fc, { SEED } from '../../../test/support/seed.ts';
import { startTestService } from '../../../test/support/service.ts';

const OPERATIONS = 100;
const AT_A_TIME = 5;

const cents = (value: number): string => `${Math.floor(value / 100)}.${String(value % 100).padStart(2, '0')}`;
const part = (of: number, hundredthsOfPercent: number): number => Math.floor((of * hundredthsOfPercent) / 10_000);

/** The numbers are hundredths: cents, and hundredths of a percent. The service has its NBS, and the taker may be absent. */
const operacao = fc.record({
  servico: fc.integer({ min: 10_000, max: 99_999_999 }),
  deducao: fc.constantFrom(0, 0, 500, 1_500),
  incondicionado: fc.constantFrom(0, 0, 100, 999),
  condicionado: fc.constantFrom(0, 0, 100),
  inss: fc.constantFrom(0, 0, 1_100),
  ir: fc.constantFrom(0, 0, 150),
  pis: fc.constantFrom(0, 0, 65),
  cofins: fc.constantFrom(0, 300),
  csll: fc.constantFrom(0, 100),
  aliquota: fc.integer({ min: 300, max: 500 }),
  retido: fc.boolean(),
  codigo: fc.constantFrom('010101', '170101', '171401', '140101'),
  regime: fc.constantFrom('', '', '', '2', '3', '4'),
  simples: fc.constantFrom('2', '2', '1'),
  dia: fc.constantFrom('2026-09-30', '2026-10-05', '2026-11-20'),
  ibscbs: fc.boolean(),
  semTomador: fc.boolean(),
  texto: fc.constantFrom('Análise de sistemas', 'João & Maria S/A', 'linha um\nlinha dois'),
  erro: fc.constantFrom('', '', '', '', 'valor', 'municipio', 'nbs', 'item', 'cpf', 'deducao', 'latin', 'inss'),
});

type Sorteada = (typeof operacao extends fc.Arbitrary<infer Drawn> ? Drawn : never) & { readonly place: number };

const NBS = '115021000';
const CONTRIBUTIONS = ['pis', 'cofins', 'csll'] as const;

/** Values that both documents share. */
function amountsOf(one: Sorteada) {
  const servico = one.erro === 'valor' ? 0 : one.servico;
  const share = (
    name: 'deducao' | 'incondicionado' | 'condicionado' | 'inss' | 'ir' | 'pis' | 'cofins' | 'csll',
  ): number => part(one.servico, one[name]);
  return {
    servico,
    deducao: one.erro === 'deducao' ? one.servico * 2 : share('deducao'),
    incondicionado: share('incondicionado'),
    condicionado: share('condicionado'),
    inss: one.erro === 'inss' ? one.servico * 2 : share('inss'),
    ir: share('ir'),
    pis: share('pis'),
    cofins: share('cofins'),
    csll: share('csll'),
    cMun: one.erro === 'municipio' ? '3550309' : '3550308',
    cpf: one.erro === 'cpf' ? '52998224726' : '52998224725',
    texto: one.erro === 'latin' ? 'Preço — em €' : one.texto,
    nbs: one.erro === 'nbs' ? undefined : NBS,
    codigo: one.erro === 'item' ? '999999' : one.codigo,
    // A company of the Simples has a rate only for a withholding; an RPS loses it.
    hasRate: one.regime === '' && (one.simples !== '1' || one.retido),
    hasGroup: one.ibscbs,
  };
}

function dpsOf(one: Sorteada): string {
  const it = amountsOf(one);
  const tag = (name: string, text: string | undefined): string =>
    text === undefined ? '' : `<${name}>${text}</${name}>`;
  const money = (name: string, value: number): string => (value === 0 ? '' : tag(name, cents(value)));
  const group = (name: string, inside: string): string => (inside === '' ? '' : `<${name}>${inside}</${name}>`);
  const kinds = CONTRIBUTIONS.map((name) => (it[name] > 0 ? '1' : '0')).join('');
  const kind = { '111': '3', '110': '4', '100': '5', '010': '6', '011': '7', '001': '8', '101': '9' }[kinds];
  const regEspTrib = { '': '0', '2': '2', '3': '6', '4': '1' }[one.regime]!;
  return `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infDPS Id="DPS1"><tpAmb>2</tpAmb><verAplic>teste</verAplic><serie>9</serie><nDPS>${one.place + 1}</nDPS><dCompet>${one.dia}</dCompet><tpEmit>1</tpEmit><cLocEmi>3550308</cLocEmi><prest><CNPJ>11222333000181</CNPJ><regTrib><opSimpNac>${
    one.simples === '1' ? '3</opSimpNac><regApTribSN>1</regApTribSN>' : '1</opSimpNac>'
  }<regEspTrib>${regEspTrib}</regEspTrib></regTrib></prest>${
    one.semTomador
      ? ''
      : `<toma><CPF>${it.cpf}</CPF><xNome>Maria</xNome><end><endNac><cMun>3550308</cMun><CEP>01001000</CEP></endNac><xLgr>Praça</xLgr><nro>1</nro><xBairro>Sé</xBairro></end></toma>`
  }<serv><locPrest><cLocPrestacao>${it.cMun}</cLocPrestacao></locPrest><cServ><cTribNac>${it.codigo}</cTribNac><xDescServ>${escaped(it.texto)}</xDescServ>${tag('cNBS', it.nbs)}</cServ></serv><valores><vServPrest><vServ>${cents(it.servico)}</vServ></vServPrest>${group(
    'vDescCondIncond',
    money('vDescIncond', it.incondicionado) + money('vDescCond', it.condicionado),
  )}${group('vDedRed', money('vDR', it.deducao))}<trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>${one.retido ? '2' : '1'}</tpRetISSQN>${
    it.hasRate ? tag('pAliq', cents(one.aliquota)) : ''
  }</tribMun>${group(
    'tribFed',
    (kind === undefined ? '' : `<piscofins><CST>00</CST><tpRetPisCofins>${kind}</tpRetPisCofins></piscofins>`) +
      money('vRetCP', it.inss) +
      money('vRetIRRF', it.ir) +
      money('vRetCSLL', it.pis + it.cofins + it.csll),
  )}<totTrib><indTotTrib>0</indTotTrib></totTrib></trib></valores>${
    it.hasGroup
      ? '<IBSCBS><cIndOp>100301</cIndOp><valores><trib><gIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores></IBSCBS>'
      : ''
  }</infDPS></DPS>`;
}

function rpsOf(one: Sorteada): RpsDeTeste {
  const it = amountsOf(one);
  const fraction = `0.${String(one.aliquota).padStart(4, '0')}`;
  // The formulas of the manual; half a cent is rounded up.
  const base = Math.max(0, it.servico - it.deducao - it.incondicionado);
  const iss = it.hasRate ? Math.floor((base * one.aliquota + 5_000) / 10_000) : 0;
  const withheld = it.inss + it.ir + it.pis + it.cofins + it.csll + (one.retido ? iss : 0);
  const net = Math.max(0, it.servico - it.incondicionado - it.condicionado - withheld);
  return {
    numero: one.place + 1,
    serie: '8',
    emissao: `${one.dia}T08:30:00`,
    natureza: '1',
    simples: one.simples,
    ...(one.regime === '' ? {} : { regime: one.regime }),
    valores: `<ValorServicos>${cents(it.servico)}</ValorServicos><ValorDeducoes>${cents(it.deducao)}</ValorDeducoes><ValorPis>${cents(it.pis)}</ValorPis><ValorCofins>${cents(it.cofins)}</ValorCofins><ValorInss>${cents(it.inss)}</ValorInss><ValorIr>${cents(it.ir)}</ValorIr><ValorCsll>${cents(it.csll)}</ValorCsll><IssRetido>${one.retido ? '1' : '2'}</IssRetido><ValorIss>${cents(iss)}</ValorIss><BaseCalculo>${cents(base)}</BaseCalculo><Aliquota>${one.place % 2 === 0 ? fraction : cents(one.aliquota)}</Aliquota><ValorLiquidoNfse>${cents(net)}</ValorLiquidoNfse><DescontoIncondicionado>${cents(it.incondicionado)}</DescontoIncondicionado><DescontoCondicionado>${cents(it.condicionado)}</DescontoCondicionado>`,
    item: `${it.codigo.slice(0, 2)}.${it.codigo.slice(2, 4)}`,
    cMun: it.cMun,
    discriminacao: escaped(it.texto),
    nbs: it.nbs ?? '',
    tomador: one.semTomador
      ? '<Tomador></Tomador>'
      : `<Tomador><IdentificacaoTomador><CpfCnpj><Cpf>${it.cpf}</Cpf></CpfCnpj></IdentificacaoTomador><RazaoSocial>Maria</RazaoSocial><Endereco><Endereco>Praça</Endereco><Numero>1</Numero><Bairro>Sé</Bairro><CodigoMunicipio>3550308</CodigoMunicipio><Uf>SP</Uf><Cep>1001000</Cep></Endereco></Tomador>`,
    extensao: `<DadosDPS><CTribNac>${it.codigo}</CTribNac></DadosDPS>${
      it.hasGroup
        ? '<ControleIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><CIndOp>100301</CIndOp></ControleIBSCBS>'
        : ''
    }`,
  };
}

/** The model's code for a refusal of the REST door. */
function legacyOf({ codigo, xpath }: { readonly codigo: string; readonly xpath: string }): string {
  const byPlace = { cNBS: 'E160', cTribNac: 'E30', CPF: 'E47', xDescServ: 'E107' }[xpath.replace(/.*\//, '')];
  if (['E002', 'E0003'].includes(codigo) && byPlace !== undefined) return byPlace;
  const known: Readonly<Record<string, string>> = {
    E401: 'E18',
    E403: 'E42',
    E0427: 'E19',
    E0428: 'E99',
    E0699: 'E99',
    E0700: 'E99',
    E0701: 'E99',
    E0580: 'E37',
    E0588: 'E38',
    E802: 'E802',
  };
  return known[codigo] ?? codigo.replace('E', '');
}

/** All amounts of the note, from both documents in it. */
function amountsIn(xml: string): string {
  const names =
    'vServ vDR vDescIncond vDescCond vBC pAliqAplic vISSQN vTotalRet vLiq vRetCP vRetIRRF vRetCSLL pAliq tpRetISSQN cLocIncid vIBSUF vIBSMun vCBS vTotNF pIBSUF pCBS';
  return names
    .split(' ')
    .map((name) => `${name}=${all(xml, name).join(',')}`)
    .join(' ');
}

describe(`the operations of seed ${SEED}`, () => {
  test('have one verdict and one set of amounts at both doors', async () => {
    const { address, store, clock } = await startTestService();
    const tenant = 'cidade';
    await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
    const drawn = fc.sample(operacao, { numRuns: OPERATIONS, seed: SEED }).map((one, place) => ({ ...one, place }));
    const seen = { issued: 0, refused: 0 };
    const compare = async (one: Sorteada): Promise<void> => {
      const dps = dpsOf(one);
      const lote = loteXml([rpsOf(one)], { numero: String(one.place + 1) });
      const [rest, soap] = await Promise.all([emit(address, dps), sendLote(address, lote, tenant)]);
      const both = `${JSON.stringify(one)}\n${dps}\n${JSON.stringify(rest.body)}\n${soap.documento}`;
      if (rest.status === 201) {
        seen.issued += 1;
        assert.equal(soap.situacao, '4', both);
        const chave = /Id="NFS(\d{50})"/.exec(soap.documento)![1]!;
        const [byRest, bySoap] = await Promise.all([
          request(address, `/integracao/api/v1/nfse/${rest.body.chave_acesso}`),
          request(address, `/${tenant}/api/v1/nfse/${chave}`),
        ]);
        for (const name of [
          'valor_servico',
          'valor_issqn',
          'valor_base_calculo',
          'aliquota_issqn',
          'data_competencia',
        ]) {
          assert.equal(bySoap.body.nota[name], byRest.body.nota[name], `${name}: ${both}`);
        }
        const issuedXml = rest.body.xml_nfse;
        const { rows } = await storedNfse(chave);
        assert.equal(amountsIn(rows[0]!.nfse.toString('utf8')), amountsIn(issuedXml), both);
        return;
      }
      seen.refused += 1;
      assert.equal(rest.status, 422, both);
      assert.equal(soap.situacao, '3', both);
      assert.deepEqual(all(soap.documento, 'Codigo').toSorted(), rest.body.erros.map(legacyOf).toSorted(), both);
    };
    const storedNfse = async (chave: string): Promise<{ rows: { nfse: Buffer }[] }> => {
      const row = await store.notas.findByChave(tenant, chave);
      return { rows: row === undefined ? [] : [{ nfse: Buffer.from(row.nfse) }] };
    };
    for (let from = 0; from < drawn.length; from += AT_A_TIME) {
      await Promise.all(drawn.slice(from, from + AT_A_TIME).map(compare));
    }
    assert.equal(seen.issued + seen.refused, OPERATIONS);
    assert.ok(seen.issued > 10 && seen.refused > 10, JSON.stringify(seen));
  });
});
