/**
 * The printed form read back by other programs: the words and their places by poppler, the code by zbar. Places and labels are those of the
 * standard (`especificacao/danfse.ts`); amounts are those of the worked example of the reference.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TOMADOR_EXTERIOR } from '../../../test/casos/caso.ts';
import { CAMPOS_DA_NORMA, CAMPOS_DO_MODELO, TITULOS_DA_NORMA } from '../../../test/especificacao/danfse.ts';
import { EXAMPLE_FACTS } from '../../../test/support/law.ts';
import { acceptedPatches, EXAMPLE_CHAVE, nfseOf } from '../../../test/support/notas.ts';
import { type Leitor, leitor, overlaps, type Pagina, textIn } from '../../../test/support/paginas.ts';
import fc from '../../../test/support/seed.ts';
import { renderDanfse, type SituacaoImpressa } from '../../documents/danfse.ts';
import type { Facts } from '../../fiscal/facts.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';

const found = leitor();
const skip = found === undefined ? 'poppler is not here' : false;
const ler = found as Leitor;

const PRESTADOR: Facts['prestador'] = {
  ...EXAMPLE_FACTS.prestador,
  inscricaoMunicipal: '123456',
  fone: '1133334444',
  email: 'fiscal@exemplo.com.br',
  endereco: { xLgr: 'Rua das Laranjeiras', nro: '1250', xCpl: 'Sala 12', xBairro: 'Jardim Paulista', CEP: '01310100' },
};

/** Every party, and the amounts of the worked example of the layout of the note. */
const COMPLETA: Patch = {
  'toma/CPF': null,
  'toma/CNPJ': '11444777000161',
  'toma/IM': '98765',
  'toma/xNome': 'Tomadora Exemplo S/A',
  'toma/fone': '1122223333',
  'toma/email': 'contas@exemplo.com.br',
  'interm/CPF': '52998224725',
  'interm/xNome': 'Maria Intermediária',
  'serv/cServ/cTribNac': '171401',
  'serv/cServ/xDescServ': 'Assessoria jurídica',
  'valores/vDescCondIncond/vDescIncond': '50.00',
  'valores/vDescCondIncond/vDescCond': '20.00',
  'valores/vDedRed/vDR': '100.00',
  'valores/trib/tribMun/tpRetISSQN': '2',
  'valores/trib/tribMun/pAliq': '3.00',
  'valores/trib/tribFed/piscofins/CST': '01',
  'valores/trib/tribFed/piscofins/vBCPisCofins': '1000.00',
  'valores/trib/tribFed/piscofins/pAliqPis': '0.65',
  'valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
  'valores/trib/tribFed/piscofins/vPis': '6.50',
  'valores/trib/tribFed/piscofins/vCofins': '30.00',
  'valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
  'valores/trib/tribFed/vRetIRRF': '15.00',
  'valores/trib/tribFed/vRetCSLL': '46.50',
  'IBSCBS/indDest': '1',
  'IBSCBS/dest/CPF': '52998224725',
  'IBSCBS/dest/xNome': 'João Destinatário',
  'IBSCBS/valores/trib/gIBSCBS/CST': '200',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200052',
};

function pageOf(
  patch: Patch,
  { tpAmb = '1', situacao }: { tpAmb?: '1' | '2'; situacao?: SituacaoImpressa } = {},
): Pagina {
  const paginas = ler.paginas(renderDanfse(nfseOf(patch, { prestador: PRESTADOR }, tpAmb), situacao));
  assert.equal(paginas.length, 1);
  return paginas[0]!;
}

/** The lower half of the cell with this label; `nth` chooses among cells with the same label. */
function contentOf(pagina: Pagina, label: string, nth = 0): string {
  const [, , x, y, w, h] = CAMPOS_DA_NORMA.filter(([, name]) => name === label)[nth]!;
  return textIn(pagina, { x: CAMPOS_DO_MODELO[label] ?? x, y: y + h / 2, w, h: h / 2 });
}

/** All words on the page. */
function textOf({ palavras }: Pagina): string {
  return palavras.map(({ text }) => text).join(' ');
}

/** Allowed distance from the left edge of a cell to its first letter, and from its top to its label. */
const TOLERANCE_CM = 0.1;

describe('the page of a complete note', { skip }, () => {
  const pagina = skip === false ? pageOf(COMPLETA) : { w: 0, h: 0, palavras: [] };

  test('is one A4 sheet', () => {
    assert.ok(Math.abs(pagina.w - 21) < 0.01 && Math.abs(pagina.h - 29.7) < 0.01, `${pagina.w} × ${pagina.h}`);
  });

  for (const [bloco, label, tableX, y, w, h] of CAMPOS_DA_NORMA) {
    test(`${bloco}: ${label || 'texto do serviço'} stands where the standard has it`, () => {
      const x = CAMPOS_DO_MODELO[label] ?? tableX;
      const upper = { x, y, w, h: label === '' ? h : h / 2 };
      if (label === '') assert.equal(textIn(pagina, upper), 'Advocacia');
      else assert.equal(textIn(pagina, upper), label);
      const words = pagina.palavras.filter((one) => one.x >= x && one.x < x + w && one.y >= y && one.bottom <= y + h);
      assert.ok(Math.min(...words.map((one) => one.x)) - x < TOLERANCE_CM);
      assert.ok(Math.min(...words.map((one) => one.y)) - y < TOLERANCE_CM);
      if (label !== '') assert.notEqual(textIn(pagina, { ...upper, y: y + h / 2 }), '');
    });
  }

  for (const [titulo, y] of TITULOS_DA_NORMA) {
    test(`the title ${titulo} stands at the left edge of its block`, () => {
      assert.equal(textIn(pagina, { x: 0.3, y, w: 5.09, h: 0.4 + (y > 22 ? 0 : 0.2) }), titulo);
    });
  }

  const CONTENTS: readonly (readonly [label: string, content: string, nth?: number])[] = [
    ['CHAVE DE ACESSO DA NFS-E', EXAMPLE_CHAVE],
    ['NÚMERO DA NFS-E', '42'],
    ['COMPETÊNCIA DA NFS-E', '05/10/2026'],
    ['DATA E HORA DA EMISSÃO DA NFS-E', '05/10/2026 10:15:30'],
    ['EMITENTE DA NFS-E', 'Prestador'],
    ['SITUAÇÃO DA NFS-E', 'NFS-e Gerada'],
    ['FINALIDADE', 'NFS-e regular'],
    ['CNPJ / CPF / NIF', '11.222.333/0001-81'],
    ['CNPJ / CPF / NIF', '11.444.777/0001-61', 1],
    ['CNPJ / CPF / NIF', '529.982.247-25', 2],
    ['Indicador Municipal (Inscrição)', '123456'],
    ['Telefone', '1133334444'],
    ['Nome / Nome Empresarial', 'Empresa Exemplo Ltda'],
    ['Município / Sigla UF', 'São Paulo / SP'],
    ['Código IBGE / CEP', '3550308 / 01.310-100'],
    ['Endereço', 'Rua das Laranjeiras, 1250, Sala 12, Jardim Paulista'],
    ['E-mail', 'fiscal@exemplo.com.br'],
    ['E-mail', 'contas@exemplo.com.br', 1],
    ['E-mail', '-', 2],
    ['Simples Nacional na Data de Competência', 'Não Optante'],
    ['Regime de Apuração Tributária pelo SN', '-'],
    ['Código de Tributação Nacional / Municipal', '17.14.01 / -'],
    ['Código da NBS', '1.1502.10.00'],
    ['Local da Prestação / Sigla UF / País', 'São Paulo / SP / BR'],
    ['Descrição do Serviço', 'Assessoria jurídica'],
    ['Tipo de Tributação do ISSQN', 'Operação Tributável'],
    ['Município / Sigla UF / País de Incidência do ISSQN', 'São Paulo / SP / BR'],
    ['Regime Especial de Tributação do ISSQN', 'Nenhum'],
    ['Total Deduções/Reduções', 'R$ 100,00'],
    ['Desconto Incondicionado', 'R$ 50,00'],
    ['BC ISSQN', 'R$ 850,00'],
    ['Alíquota Aplicada', '3,00%'],
    ['Retenção do ISSQN', 'Retido pelo Tomador'],
    ['ISSQN Apurado', 'R$ 25,50'],
    ['IRRF', 'R$ 15,00'],
    ['Contribuição Previdenciária - Retida', '-'],
    ['Contribuições Sociais - Retidas', 'R$ 46,50'],
    ['PIS - Débito Apuração Própria', 'R$ 6,50'],
    ['COFINS - Débito Apuração Própria', 'R$ 30,00'],
    ['Descrição Contrib. Sociais - Retidas', 'PIS/COFINS/CSLL Retidos'],
    ['CST / cClassTrib', '200 / 200052'],
    [
      'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF',
      '100301 / 3550308 / São Paulo / SP',
    ],
    ['Exclusões e Reduções da Base de Cálculo', 'R$ 112,00'],
    ['Base de Cálculo Após Exclusões e Reduções', 'R$ 888,00'],
    ['Red. Alíquota IBS / Red. Alíquota CBS', '30,00% / 30,00% / 30,00%'],
    ['Alíquota - IBS UF / IBS Mun', '0,10% / 0,00%'],
    ['Alíq. Efetiva Municipal - IBS', '0,00%'],
    ['Valor Apurado Municipal - IBS', 'R$ 0,00'],
    ['Alíq. Efetiva Estadual - IBS', '0,07%'],
    ['Valor Apurado Estadual - IBS', 'R$ 0,62'],
    ['Valor Total Apurado - IBS', 'R$ 0,62'],
    ['Alíquota - CBS', '0,90%'],
    ['Alíquota Efetiva - CBS', '0,63%'],
    ['Valor Total Apurado - CBS', 'R$ 5,59'],
    ['VALOR DA OPERAÇÃO / SERVIÇO', 'R$ 1.000,00'],
    ['Desconto Condicionado', 'R$ 20,00'],
    ['Total das Retenções (ISSQN / Federais)', 'R$ 87,00'],
    ['VALOR LÍQUIDO DA NFS-e', 'R$ 843,00'],
    ['Total do IBS/CBS', 'R$ 6,21'],
    ['VALOR LÍQUIDO DA NFS-e + IBS/CBS', 'R$ 843,00'],
  ];
  for (const [label, content, nth] of CONTENTS) {
    test(`${label} reads ${content}`, () => assert.equal(contentOf(pagina, label, nth), content));
  }

  test('the header names the document, the municipality and the environment', () => {
    const title = textIn(pagina, { x: 5.41, y: 0.3, w: 10.19, h: 1.16 });
    assert.equal(title, 'DANFSe v2.0 Documento Auxiliar da NFS-e');
    const right = textIn(pagina, { x: 15.62, y: 0.3, w: 5.09, h: 1.16 });
    assert.equal(right, 'Município: São Paulo / SP Ambiente Gerador: Prefeitura Tipo de Ambiente: Produção');
  });

  test('three lines below the code tell how to verify the note', () => {
    const said = textIn(pagina, { x: 15.8, y: 3.3, w: 4.72, h: 0.9 });
    const wanted =
      'A autenticidade desta NFS-e pode ser verificada pela leitura deste código QR ou pela consulta da chave de acesso no portal nacional da NFS-e';
    assert.equal(said, wanted);
  });

  test('the stub has two frames to write in, and the number and key', () => {
    const stub = textIn(pagina, { x: 0.3, y: 28.1, w: 20.4, h: 0.67 });
    assert.match(stub, /^DATA CIENTIFICAÇÃO IDENTIFICAÇÃO E ASSINATURA Nº NFS-e \/ CHAVE NFS-e 42 \/ \d{50}$/);
  });

  test('the fonts are in the file, and say what their letters mean', () => {
    const fontes = ler.fontes(renderDanfse(nfseOf(COMPLETA)));
    assert.equal(fontes.length, 2);
    for (const line of fontes) assert.match(line, /CID TrueType\s+Identity-H\s+yes yes yes/);
  });

  test('the page border keeps between 0.15 and 0.20 cm from the edge', () => {
    const { w, rgb, h } = ler.figura(renderDanfse(nfseOf(COMPLETA)), 254);
    const dark = (x: number, y: number): boolean => rgb[3 * (y * w + x)]! < 128;
    const dots = (cm: number): number => Math.round(cm * 100);
    const middle = Math.round(h * 0.9);
    let left = 0;
    while (!dark(left, middle)) left += 1;
    assert.ok(left >= dots(0.15) && left <= dots(0.2), `${left / 100} cm`);
  });
});

test('the code leads to the public query of the note', { skip }, (t) => {
  const said = ler.codigos(renderDanfse(nfseOf(COMPLETA)));
  if (said === undefined) return t.skip('zbar is not here');
  assert.deepEqual(said, [`https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${EXAMPLE_CHAVE}`]);
});

describe('blocks that a note does without', { skip }, () => {
  const shortened = (patch: Patch): Pagina => pageOf({ ...patch });

  test('no taker: one line, and what follows moves up', () => {
    const pagina = shortened({ toma: null, 'IBSCBS/cIndOp': '030101' });
    assert.equal(
      textIn(pagina, { x: 0.3, y: 6.92, w: 20.4, h: 0.32 }),
      'TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
    );
    assert.equal(
      textIn(pagina, { x: 0.3, y: 7.26, w: 20.4, h: 0.32 }),
      'O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO',
    );
    assert.equal(
      textIn(pagina, { x: 0.3, y: 7.6, w: 20.4, h: 0.32 }),
      'INTERMEDIÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e',
    );
    assert.equal(textIn(pagina, { x: 0.3, y: 7.94, w: 5.09, h: 0.63 }), 'SERVIÇO PRESTADO');
  });

  test('no incidence of ISSQN: one line in place of the block', () => {
    const text = textOf(shortened({ 'valores/trib/tribMun/tribISSQN': '4', 'valores/trib/tribMun/pAliq': null }));
    assert.match(text, /TRIBUTAÇÃO MUNICIPAL \(ISSQN\) - OPERAÇÃO NÃO SUJEITA AO ISSQN/);
    assert.doesNotMatch(text, /BC ISSQN/);
  });

  test('a row of benefits and deductions that would be empty is left out', () => {
    assert.doesNotMatch(textOf(shortened({})), /Benefício Municipal/);
    assert.match(
      textOf(shortened({ 'valores/vDedRed/vDR': '1.00', 'valores/trib/tribMun/pAliq': '5.00' })),
      /Benefício Municipal/,
    );
  });

  test('PIS and COFINS are told up to the end of 2026', () => {
    assert.match(textOf(shortened({ dCompet: '2026-12-31' })), /PIS - Débito Apuração Própria/);
    assert.doesNotMatch(textOf(shortened({ dCompet: '2027-01-01' })), /PIS - Débito Apuração Própria/);
  });

  test('without the IBS/CBS group the fields of the block are dashes', () => {
    const pagina = shortened({ dCompet: '2026-09-30', IBSCBS: null });
    const text = textOf(pagina);
    assert.match(text, /TRIBUTAÇÃO IBS \/ CBS/);
    assert.match(text, /DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e/);
    const title = pagina.palavras.find((one, at) => one.text === 'IBS' && pagina.palavras[at + 1]?.text === '/')!;
    const block = textIn(pagina, { x: 0.3, y: title.y - 0.3, w: 20.4, h: 2.58 });
    assert.doesNotMatch(block, /R\$|%/);
  });
});

test('of a company that pays the ISSQN inside the Simples the page has no base, rate or tax', { skip }, () => {
  const simples: Patch = {
    dCompet: '2026-06-11',
    IBSCBS: null,
    'prest/regTrib/opSimpNac': '3',
    'prest/regTrib/regApTribSN': '1',
    'valores/trib/tribMun/pAliq': null,
    'valores/vServPrest/vServ': '12392.26',
  };
  const text = textOf(pageOf(simples));
  assert.match(text, /BC ISSQN Alíquota Aplicada Retenção do ISSQN ISSQN Apurado - - Não Retido -/);
  assert.match(text, /VALOR LÍQUIDO DA NFS-e/);
  assert.equal(text.match(/R\$ 12\.392,26/g)?.length, 2, 'the price and the net value');
  assert.match(
    textOf(pageOf({ ...simples, 'valores/trib/tribMun/pAliq': '2.79', 'valores/trib/tribMun/tpRetISSQN': '2' })),
    // 12392.26 × 2.79 % = 345.744
    /R\$ 12\.392,26 2,79% Retido pelo Tomador R\$ 345,74/,
  );
});

test('a note that was once issued without a rate says so, and prints nothing that hangs on it', { skip }, () => {
  const withheld = { 'valores/trib/tribMun/tpRetISSQN': '2' } as const;
  for (const patch of [{}, withheld]) {
    // Notes had this form then: the base, no rate, no tax, nothing withheld, and the whole price as net value.
    const nfse = Buffer.from(
      nfseOf(patch)
        .toString()
        .replace(/<pAliqAplic>.*?<\/vISSQN>/, '')
        .replace(/<vTotalRet>[^<]*/, '<vTotalRet>0.00')
        .replace(/<vLiq>[^<]*/, '<vLiq>1000.00'),
    );
    const text = textOf(ler.paginas(renderDanfse(nfse))[0]!);
    const [retencao, retido, liquido] =
      patch === withheld ? ['Retido pelo Tomador', '-', '-'] : ['Não Retido', 'R\\$ 0,00', 'R\\$ 1\\.000,00'];
    assert.match(text, new RegExp(`ISSQN Apurado R\\$ 1\\.000,00 - ${retencao} -`));
    assert.match(text, new RegExp(`VALOR LÍQUIDO DA NFS-e \\+ IBS/CBS ${retido} ${liquido} R\\$ `));
    assert.match(text, /ISSQN: a nota foi emitida sem que se conhecesse a alíquota/);
  }
});

test('with PIS and COFINS withheld they are told with the social contributions, and not as own debits', {
  skip,
}, () => {
  const pagina = pageOf({ ...COMPLETA, 'valores/trib/tribFed/piscofins/tpRetPisCofins': '1' });
  assert.equal(contentOf(pagina, 'Contribuições Sociais - Retidas'), 'R$ 83,00');
  assert.equal(contentOf(pagina, 'PIS - Débito Apuração Própria'), 'R$ 0,00');
  assert.equal(contentOf(pagina, 'COFINS - Débito Apuração Própria'), 'R$ 0,00');
  assert.equal(contentOf(pagina, 'Descrição Contrib. Sociais - Retidas'), 'PIS/COFINS Retidos');
});

test('a taker abroad is told by its own number, city and postal code', { skip }, () => {
  const pagina = pageOf({
    ...TOMADOR_EXTERIOR,
    'toma/NIF': 'US-99-1234567',
    'toma/xNome': 'Example Widgets Inc.',
    'valores/trib/tribMun/tribISSQN': '3',
    'valores/trib/tribMun/cPaisResult': 'US',
    'valores/trib/tribMun/pAliq': null,
  });
  assert.equal(contentOf(pagina, 'CNPJ / CPF / NIF', 1), 'US-99-1234567');
  assert.equal(contentOf(pagina, 'Município / Sigla UF', 1), 'New York');
  assert.equal(contentOf(pagina, 'Código IBGE / CEP', 1), 'US / 10001');
  assert.match(textOf(pagina), /Exportação de Serviço - \/ - \/ US/);
});

test('the complementary information has its parts in order, and always ends with the approximate taxes', {
  skip,
}, () => {
  const patch: Patch = {
    'serv/cServ/cTribNac': '070201',
    'serv/obra/cObra': '512345678901',
    'serv/obra/inscImobFisc': '0123.456',
    'serv/infoCompl/xInfComp': 'Parcela 1 de 2',
    'serv/infoCompl/docRef': 'Contrato 7',
    'serv/infoCompl/idDocTec': 'ART 99',
    'IBSCBS/cIndOp': '020101',
    'valores/vServPrest/vServ': '2000.00',
    'valores/trib/totTrib/indTotTrib': null,
    'valores/trib/totTrib/vTotTrib/vTotTribFed': '1134.50',
    'valores/trib/totTrib/vTotTrib/vTotTribEst': '0.00',
    'valores/trib/totTrib/vTotTrib/vTotTribMun': '20.00',
  };
  const text = textOf(pageOf(patch));
  assert.ok(
    text.includes(
      'Inf. Cont.: Parcela 1 de 2 | Doc. Ref.: Contrato 7 | Cod. Obra: 512345678901 | Insc. Imob.: 0123.456 | Doc. Tec.: ART 99 Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: R$ 1.134,50; Estaduais: R$ 0,00; Municipais: R$ 20,00',
    ),
    text,
  );
  assert.ok(textOf(pageOf({})).includes('Federais: -; Estaduais: -; Municipais: -'));
});

describe('what is written across the page', { skip }, () => {
  /** Poppler loses the order of the letters of rotated text. */
  const sorted = (text: string): string => [...text.replaceAll(' ', '')].toSorted().join('');
  const plain = skip === false ? textOf(pageOf({})) : '';
  const CASES = [
    ['production', '1', undefined, ''],
    ['cancelled', '1', 'cancelada', 'CANCELADA'],
    ['replaced', '1', 'substituida', 'SUBSTITUÍDA'],
    ['the sandbox', '2', undefined, 'AMBIENTE DE HOMOLOGAÇÃO SEM VALOR FISCAL'],
    ['cancelled in the sandbox', '2', 'cancelada', 'CANCELADA AMBIENTE DE HOMOLOGAÇÃO SEM VALOR FISCAL'],
  ] as const;
  for (const [name, tpAmb, situacao, wanted] of CASES) {
    test(`${name}: ${wanted || 'nothing'}`, () => {
      const pdf = renderDanfse(nfseOf({}, { prestador: PRESTADOR }, tpAmb), situacao);
      const [pagina] = ler.paginas(pdf);
      const isSandbox = tpAmb === '2';
      const header = isSandbox ? 'Homologação NFS-e SEM VALIDADE JURÍDICA' : 'Produção';
      assert.equal(sorted(textOf(pagina!)), sorted(plain.replace('Produção', header) + wanted));
      const { w, rgb } = ler.figura(pdf, 60);
      const dots = (red: number, green: number): readonly (readonly [x: number, y: number])[] => {
        const found: [number, number][] = [];
        for (let at = 0; at < rgb.length; at += 3) {
          if (rgb[at] === red && rgb[at + 1] === green) found.push([(at / 3) % w, Math.floor(at / 3 / w)]);
        }
        return found;
      };
      assert.equal(dots(255, 0).length > 0, isSandbox, 'red');
      // #A6A6A6: shading and edges of letters do not produce this grey in quantity.
      const grey = dots(0xa6, 0xa6);
      assert.equal(grey.length > 500, wanted !== '', `${grey.length} grey dots`);
      if (wanted !== '') assert.ok(slantOf(grey) < -0.4, `rises by ${slantOf(grey)}`);
    });
  }
});

/** Correlation of the dots: -1 on a line that rises from left to right (rows count downwards), 0 for scattered dots. */
function slantOf(dots: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(dots.map((dot) => dot[0])), mean(dots.map((dot) => dot[1]))];
  const across = mean(dots.map((dot) => (dot[0] - x) ** 2));
  const down = mean(dots.map((dot) => (dot[1] - y) ** 2));
  return mean(dots.map((dot) => (dot[0] - x) * (dot[1] - y))) / Math.sqrt(across * down);
}

describe('letters beyond those of Portuguese', { skip }, () => {
  const NAMES = [
    'Łódź Żółw Nguyễn Ğül Őry',
    'Компания «Ромашка» и Σωκράτης ἄνθρωπος',
    '北京中文科技有限公司',
    '株式会社ソニー・さくら',
    '삼성전자 주식회사',
  ];
  for (const name of NAMES) {
    test(`${name} is read as it was written`, () => {
      const pdf = renderDanfse(nfseOf({ 'toma/xNome': name }));
      assert.equal(contentOf(ler.paginas(pdf)[0]!, 'Nome / Nome Empresarial', 1), name);
      const fontes = ler.fontes(pdf);
      assert.equal(fontes.length, 3);
      for (const line of fontes) assert.match(line, /CID TrueType\s+Identity-H\s+yes yes yes/);
    });
  }

  test('a note takes of a font what it needs, a few kilobytes', () => {
    const plain = renderDanfse(nfseOf({})).length;
    for (const name of NAMES) assert.ok(renderDanfse(nfseOf({ 'toma/xNome': name })).length - plain < 6000, name);
  });

  /** The box that the ink of a name fills, in pixels. */
  const inkOf = (name: string): { readonly w: number; readonly h: number } => {
    const pdf = renderDanfse(nfseOf({ 'toma/xNome': name }));
    const { palavras } = ler.paginas(pdf)[0]!;
    const at = palavras.find(({ text }) => text === name)!;
    const dpi = 300;
    const { w, rgb } = ler.figura(pdf, dpi);
    const dots = (cm: number): number => Math.round((cm * dpi) / 2.54);
    const xs: number[] = [];
    const ys: number[] = [];
    // The search stays between the line above the cell and the one below; the labels are left out.
    for (let y = dots(at.y) - 3; y < dots(at.bottom); y += 1) {
      for (let x = dots(at.x) - 2; x < dots(at.right) + 2; x += 1) {
        if (rgb[3 * (y * w + x)]! < 128) {
          xs.push(x);
          ys.push(y);
        }
      }
    }
    return { w: Math.max(...xs) - Math.min(...xs), h: Math.max(...ys) - Math.min(...ys) };
  };

  test('and looks as it is: one, a stroke down, an accent over a letter', () => {
    const [one, down] = [inkOf('一'), inkOf('丨')];
    assert.ok(one.w > 6 * one.h, JSON.stringify(one));
    assert.ok(down.h > 6 * down.w, JSON.stringify(down));
    const [bare, accented] = [inkOf('S'), inkOf('Ś')];
    assert.ok(accented.h > 1.15 * bare.h, JSON.stringify([bare, accented]));
    assert.ok(Math.abs(accented.w - bare.w) <= 1, JSON.stringify([bare, accented]));
  });

  test('a long Chinese description fills its lines, loses nothing, and no line begins with what closes', () => {
    const sentence =
      '本公司为客户提供软件开发与技术咨询服务，包括需求分析、系统设计、编码实现、测试。（合同编号：2026/17）';
    const description = sentence.repeat(30).slice(0, 1280);
    const pagina = pageOf({ 'serv/cServ/xDescServ': `Consultoria: ${description}` });
    assert.deepEqual(overlaps(pagina), []);
    const words = pagina.palavras.filter(({ text }) => /[\u3000-\u9fff\uff00-\uffef]/.test(text));
    assert.equal(words.map(({ text }) => text).join(''), description);
    const starts = words.filter(({ x }) => x < 0.5).map(({ text }) => text[0]!);
    assert.ok(starts.length > 10, `${starts.length} lines`);
    assert.deepEqual(
      starts.filter((char) => /[，。、）：；]/.test(char)),
      [],
    );
    assert.equal(
      words.filter(({ x, right }) => x < 0.5 && right > 20).length,
      starts.length - 1,
      'all but the last are full',
    );
  });

  test('what is in no font is a question mark, and what is invisible is nothing', () => {
    assert.equal(
      contentOf(pageOf({ 'toma/xNome': 'A\u200bB ✅\ufe0f مر ㎡' }), 'Nome / Nome Empresarial', 1),
      'AB ? ?? m2',
    );
  });
});

describe('long texts', { skip }, () => {
  test('a name longer than 80 keeps 77 characters and three points', () => {
    const name = `${'Sociedade '.repeat(8)}Anônima Brasileira`;
    const pagina = pageOf({ 'toma/xNome': name });
    assert.equal(contentOf(pagina, 'Nome / Nome Empresarial', 1), `${name.slice(0, 77).trimEnd()}...`);
  });

  test('a name of wide letters is set narrower, and cut only when that is not enough', () => {
    const eighty = 'ADMINISTRADORA DE BENS PRÓPRIOS E DE PARTICIPAÇÕES SOCIETÁRIAS IRMÃOS LIMA LTDA.';
    assert.equal(eighty.length, 80);
    assert.equal(contentOf(pageOf({ 'toma/xNome': eighty }), 'Nome / Nome Empresarial', 1), eighty);
    const wide = 'W'.repeat(80);
    assert.match(contentOf(pageOf({ 'toma/xNome': wide }), 'Nome / Nome Empresarial', 1), /^W{40,76}\.\.\.$/);
  });

  test('the longest description and the longest information share the page, nothing lost but what the standard cuts', () => {
    const description = 'Desenvolvimento de módulos de gestão. '.repeat(60).slice(0, 2000).trimEnd();
    const info = 'Contrato nº 1234/2026, parcela 3 de 12. '.repeat(60).slice(0, 2000).trimEnd();
    const pagina = pageOf({ ...COMPLETA, 'serv/cServ/xDescServ': description, 'serv/infoCompl/xInfComp': info });
    const text = textOf(pagina);
    assert.ok(text.includes(`${description.slice(0, 1297).trimEnd()}...`));
    assert.ok(text.includes(`${`Inf. Cont.: ${info}`.slice(0, 1997).trimEnd()}...`));
    assert.ok(text.includes('Totais Aproximados dos Tributos'));
    assert.deepEqual(overlaps(pagina), []);
  });

  test('the line breaks of a description are kept while there is room, and joined when there is not', () => {
    const few = pageOf({ 'serv/cServ/xDescServ': 'Primeira linha\nSegunda linha' });
    const at = (word: string) => few.palavras.find(({ text }) => text === word)!;
    assert.ok(at('Segunda').y > at('Primeira').bottom - 0.05);
    assert.equal(at('Segunda').x, at('Primeira').x);
    const many = pageOf({ 'serv/cServ/xDescServ': Array.from({ length: 100 }, (_, n) => `item ${n}`).join('\n') });
    assert.ok(textOf(many).includes('item 98 item 99'));
  });
});

/** Checks the layout: no word overlaps another, and none leaves the sheet. */
function assertTidy(paginas: readonly Pagina[], count = 1): void {
  assert.equal(paginas.length, count);
  for (const pagina of paginas) {
    assert.deepEqual(overlaps(pagina), []);
    const outside = pagina.palavras.filter(
      ({ x, y, right, bottom }) => x < 0.2 || y < 0.2 || right > 20.8 || bottom > 29.53,
    );
    assert.deepEqual(outside, []);
  }
}

test('every accepted example of the rules prints on one page, and no word runs into another', { skip }, () => {
  const patches = acceptedPatches();
  assert.ok(patches.length > 100);
  const notas = new Map(patches.map((patch) => nfseOf(patch)).map((nfse) => [nfse.toString('latin1'), nfse]));
  assertTidy(ler.reunidas([...notas.values()].map((nfse) => renderDanfse(nfse))), notas.size);
});

test('so does a note of any texts, however wide, long or broken', { skip }, () => {
  const words = (max: number, alphabet: string, breaks = false) =>
    fc
      .array(fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 60 }), {
        minLength: 1,
        maxLength: max / 4,
      })
      .chain((all) =>
        fc.constantFrom(' ', ...(breaks ? ['\n'] : [])).map((space) => all.join(space).slice(0, max).trim()),
      );
  const alphabet = fc.constantFrom('Wi', 'mM@', 'aeioçãõ .,', 'ABCDEFGÇÃÕ', '0123456789/-', 'W@%');
  const text = (max: number, breaks = false) =>
    alphabet.chain((letters) => words(max, letters, breaks)).filter((one) => /^[!-ÿ]/.test(one) && !/ {2}/.test(one));
  fc.assert(
    fc.property(text(2000, true), text(2000), text(150), text(255), text(60), (descricao, info, nome, rua, bairro) => {
      const patch: Patch = {
        ...COMPLETA,
        'serv/cServ/xDescServ': descricao,
        'serv/infoCompl/xInfComp': info,
        'toma/xNome': nome,
        'toma/end/xLgr': rua,
        'toma/end/xBairro': bairro,
        'IBSCBS/dest/xNome': nome,
        'interm/xNome': nome,
      };
      assertTidy(ler.paginas(renderDanfse(nfseOf(patch))));
    }),
    { numRuns: 30 },
  );
});

test('the same note is the same file, byte for byte', () => {
  const nfse = nfseOf(COMPLETA);
  assert.deepEqual(renderDanfse(nfse), renderDanfse(nfse));
});

test('what is no NFS-e is not printed', () => {
  assert.throws(() => renderDanfse(Buffer.from('<DPS/>')), RangeError);
  assert.throws(() => renderDanfse(Buffer.from('NFSe')), RangeError);
});
