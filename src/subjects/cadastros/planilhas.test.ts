/** Files as towns have them: spreadsheets, headings of their own, zeros that a spreadsheet removed, and lines to be mended. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { freshDatabase } from '../../../test/support/database.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { packSheet, writeRows } from '../../../test/support/planilha.ts';
import type { Said } from '../../../test/support/process.ts';
import { openPool } from '../../base/pg/open.ts';
import { municipios } from '../../fiscal/catalogs/catalogs.ts';
import { migrate } from '../../wiring/migrate.ts';

/** CNPJ with right digits that begin with zeros, and one without; a CPF that begins with a zero, and one without. */
const [ZERO_CNPJ, CNPJ, ZERO_CPF, CPF] = ['00394460005887', '11222333000181', '01234567890', '52998224725'];
/** A CPF that is a CNPJ once its zeros are back: check digits of both are right. */
const BOTH = '40188000100';

const folder = freshFolder();
let pool: ReturnType<typeof openPool>;
let opened = 0;

before(async () => {
  const database = await freshDatabase();
  pool = openPool(database, () => undefined);
  onEnd(() => pool.end());
  await migrate(pool);
});

async function town(): Promise<string> {
  opened += 1;
  const slug = `planilha${opened}`;
  const said = await nfseHere(['municipio', 'criar', slug, '--ibge', municipios()[100 + opened]!.codigoIbge], pool);
  assert.equal(said.code, 0, said.err);
  return slug;
}

function importFile(what: string, slug: string, content: string | Buffer, ...more: readonly string[]): Promise<Said> {
  const file = path.join(folder, `${slug}-arquivo`);
  writeFileSync(file, content);
  return nfseHere([what, 'importar', file, '--municipio', slug, ...more], pool);
}

async function taken(
  what: string,
  slug: string,
  content: string | Buffer,
  ...more: readonly string[]
): Promise<string> {
  const said = await importFile(what, slug, content, ...more);
  assert.equal(said.code, 0, said.out + said.err);
  return said.out;
}

async function documentos(slug: string): Promise<readonly string[]> {
  const { rows } = await pool.query('select documento from prestadores where tenant = $1 order by 1', [slug]);
  return rows.map(({ documento }) => documento);
}

describe('a spreadsheet', () => {
  test('is read as it is seen: numbers, days, percentages, and names of columns as towns write them', async () => {
    const slug = await town();
    const rows = [
      [],
      ['Código do Serviço', 'Descrição', 'Código de tributação nacional', 'Alíquota ISS', 'Início Vigência'],
      ['101', 'Análise; com "aspas"', { number: '10101' }, { percent: '0.05' }, { day: '2026-01-01' }],
      ['102', 'Programação', '01.01.01', { number: '2.0099999999999998' }, { day: '2026-02-28' }],
    ];
    const out = await taken('servicos', slug, await packSheet(writeRows(rows)));
    assert.match(out, /Lidas 2 linhas em .*: a primeira aba de uma planilha\./);
    const { rows: stored } = await pool.query({
      text: 'select codigo, descricao, codigo_tributacao_nacional, aliquota, inicio::text from servicos_municipais where tenant = $1 order by 1',
      values: [slug],
      rowMode: 'array',
    });
    assert.deepEqual(stored, [
      ['101', 'Análise; com "aspas"', '010101', '5.00', '2026-01-01'],
      ['102', 'Programação', '010101', '2.01', '2026-02-28'],
    ]);
  });

  test('tells a line by its number in the sheet', async () => {
    const rows = [[], ['CNPJ', 'Razão Social', 'Inscrição Municipal'], [], [CNPJ, '', '1']];
    const { code, err } = await importFile('prestador', await town(), await packSheet(writeRows(rows)));
    assert.equal(code, 1);
    assert.match(err, /linha 4: Razão Social está vazio/);
  });

  for (const [name, content] of [
    [
      'unpacks to more than memory',
      () => packSheet(`<row r="1"><c r="A1" t="inlineStr"><is><t>${'a'.repeat(300_000_000)}</t></is></c></row>`),
    ],
    [
      'has a cell outside of every sheet',
      () => packSheet('<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'),
    ],
    ['is no archive', async () => Buffer.from('PK\x03\x04 nada disso')],
    ['is another archive', async () => Buffer.from('PK\x05\x06'.padEnd(22, '\0'), 'latin1')],
    [
      'is a broken file of the old format',
      async () => Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), Buffer.alloc(5_000, 7)]),
    ],
  ] as const) {
    test(`that ${name} is refused in a sentence, and nothing is stored`, async () => {
      const slug = await town();
      const { code, err } = await importFile('prestador', slug, await content());
      assert.equal(code, 1, err);
      assert.match(err, /é uma planilha grande demais|não pôde ser lido como planilha|faltam as colunas|está vazio/);
      assert.deepEqual(await documentos(slug), []);
    });
  }
});

describe('headings', () => {
  test('name columns by what towns call them, in any case, with accents or without', async () => {
    const slug = await town();
    await taken(
      'prestador',
      slug,
      `CNPJ;RAZAO SOCIAL;Inscrição Municipal;Endereço;Nº;Bairro;CEP;E-mail\n${CNPJ};Empresa;7;Rua A;10;Centro;01001-000;a@b.com.br\n`,
    );
    const { rows } = await pool.query('select logradouro, numero, cep, email from prestadores where tenant = $1', [
      slug,
    ]);
    assert.deepEqual(rows, [{ logradouro: 'Rua A', numero: '10', cep: '01001000', email: 'a@b.com.br' }]);
  });

  test('of CNPJ and CPF give one document; a line with both is refused', async () => {
    const slug = await town();
    const head = 'CNPJ;CPF;Nome;IM\n';
    await taken('prestador', slug, `${head}${CNPJ};;Empresa;1\n;${CPF};Pessoa;2\n`);
    assert.deepEqual(await documentos(slug), [CNPJ, CPF]);
    const { err } = await importFile('prestador', slug, `${head}${CNPJ};${CPF};Empresa;1\n`);
    assert.match(err, /linha 2: CNPJ e CPF vieram juntos, com valores diferentes/);
  });

  test('that name nothing are told, with the option that names or leaves them', async () => {
    const slug = await town();
    const content = `CNPJ;Denominação;IM;Obs.\n${CNPJ};Empresa;1;nada\n`;
    const { code, err } = await importFile('prestador', slug, content);
    assert.equal(code, 1);
    assert.match(err, /falta a coluna razao_social; colunas desconhecidas: Denominação, Obs\./);
    assert.match(err, /--coluna "Denominação=coluna"/);
    await taken('prestador', slug, content, '--coluna', 'Denominação=razao_social', '--coluna', 'Obs.=');
    assert.deepEqual(await documentos(slug), [CNPJ]);
    const wrong = await importFile('prestador', slug, content, '--coluna', 'Denominação=razao', '--coluna', 'Obs.=');
    assert.match(wrong.err, /não há a coluna razao/);
  });
});

test('what a file says moves no cursor of a terminal', async () => {
  const moves = '\u001b[2J\u009b31m';
  for (const content of [
    `CNPJ;Nome;IM;Obs${moves}\n${CNPJ};Empresa;1;nada\n`,
    `CNPJ;Nome;IM;E-mail\n${CNPJ};Empresa${moves};1;${moves}\n${moves};Empresa;1;\n`,
  ]) {
    const { out, err } = await importFile('prestador', await town(), content);
    assert.match(out + err, /Obs|linha/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    assert.doesNotMatch(out + err, /[\u001b\u0080-\u009f]/);
  }
});

describe('zeros that a spreadsheet removed', () => {
  test('are given back where the check digits agree, and counted', async () => {
    const slug = await town();
    const bare = (text: string): string => String(BigInt(text));
    const rows = [ZERO_CNPJ, ZERO_CPF, CNPJ, CPF].map((one, at) => [
      { number: bare(one) },
      `Empresa ${at}`,
      { number: String(at + 1) },
    ]);
    const out = await taken('prestador', slug, await packSheet(writeRows([['CNPJ/CPF', 'Nome', 'IM'], ...rows])));
    assert.match(out, /Zeros à esquerda .* devolvidos em 2 linhas\. Confira\./);
    assert.deepEqual(await documentos(slug), [ZERO_CNPJ, ZERO_CPF, CNPJ, CPF].toSorted());
  });

  test('of what is a CPF and a CNPJ are asked for; points decide', async () => {
    const slug = await town();
    const head = 'documento,razao_social,inscricao_municipal\n';
    const { code, err } = await importFile('prestador', slug, `${head}${BOTH},Empresa,1\n`);
    assert.equal(code, 1);
    assert.match(
      err,
      /linha 2: documento serve como CPF, e como CNPJ sem os zeros à esquerda; escreva o CPF com pontos/,
    );
    assert.ok(!err.includes(BOTH), 'the document is not repeated');
    await taken('prestador', slug, `${head}401.880.001-00,Pessoa,1\n000${BOTH},Empresa,2\n`);
    assert.deepEqual(await documentos(slug), [`000${BOTH}`, BOTH]);
  });

  test('and digits too: a number with an exponent is explained', async () => {
    const { err } = await importFile(
      'prestador',
      await town(),
      `documento;razao_social;inscricao_municipal\n"4,0188E+11";Empresa;1\n`,
    );
    assert.match(err, /está em notação científica, e a planilha pode ter perdido dígitos/);
  });
});

describe('refused lines', () => {
  test('are a file that is corrected and imported again', async () => {
    const slug = await town();
    const erros = path.join(folder, 'recusadas.csv');
    const content = `CNPJ;Nome;IM;Data de cadastro\n${CNPJ};;1;2020\n${CPF};Pessoa;2;2021\n`;
    const asked = ['--coluna', 'Data de cadastro='];
    const { code } = await importFile('prestador', slug, content, '--parcial', '--erros', erros, ...asked);
    assert.equal(code, 0);
    const written = readFileSync(erros, 'utf8');
    assert.match(
      written,
      /^\uFEFFlinha;motivo;CNPJ;Nome;IM;Data de cadastro\r\n'?2;Nome está vazio;'11222333000181;;'?1;'?2020\r\n$/,
    );
    await taken('prestador', slug, written.replace(';;', ';Empresa;'), ...asked);
    assert.deepEqual(await documentos(slug), [CNPJ, CPF]);
  });
});

describe('what the law rarely admits', () => {
  const HEAD = 'codigo,descricao,codigo_tributacao_nacional,aliquota,inicio\n';

  test('a rate above 5 % is refused with its article', async () => {
    for (const aliquota of ['6', '9.99', '5.01']) {
      const { err } = await importFile('servicos', await town(), `${HEAD}101,Análise,010101,${aliquota},2026-01-01\n`);
      assert.match(err, /aliquota passa de 5 %, a alíquota máxima do ISSQN \(LC 116\/2003, art\. 8º, II\)/);
    }
  });

  test('a rate below 2 % is stored once it is confirmed; that of works needs no confirmation', async () => {
    const slug = await town();
    for (const aliquota of ['0.5', '0']) {
      const content = `${HEAD}101,Análise,010101,${aliquota},2026-01-01\n`;
      const asked = await importFile('servicos', slug, content);
      assert.equal(asked.code, 1);
      assert.match(asked.err, /Confirme: Linhas com alíquota abaixo de 2 %.*art\. 8º-A.*: 1\./);
      assert.match(asked.err, /Nada foi gravado\. Se é isso mesmo, importe de novo com --confirmar\./);
      await taken('servicos', slug, content, '--confirmar');
    }
    await taken('servicos', slug, `${HEAD}702,Obra,070201,1.50,2026-01-01\n`);
  });

  test('a benefit without an end is stored once it is confirmed', async () => {
    const slug = await town();
    const codigo = municipios()[100 + opened]!.codigoIbge;
    const content = `numero,descricao,tipo,reducao,inicio\n${codigo}0000001,Incentivo,reducao_percentual,10,2026-01-01\n`;
    const asked = await importFile('beneficios', slug, content);
    assert.match(asked.err, /Confirme: Benefícios sem fim .*: 1\./);
    await taken('beneficios', slug, content, '--confirmar');
  });
});
