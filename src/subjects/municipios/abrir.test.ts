/** Many municipalities opened by one file, as the operator of a consortium does it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { startTestService } from '../../../test/support/service.ts';
import { municipios } from '../../fiscal/catalogs/catalogs.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const MANY = 30;
const folder = freshFolder();
const [BAHIA, SERGIPE] = ['29', '28'].map((uf) => municipios().filter(({ codigoIbge }) => codigoIbge.startsWith(uf)));
const LISTA = 'codigo;descricao;codigo_tributacao_nacional;aliquota;inicio\n001;Sistemas;010701;5,00;2024-01-01\n';
const POST_XML = { method: 'POST', headers: { 'Content-Type': 'application/xml' } };
const PRESTADORES = 'documento;razao_social;inscricao_municipal;autorizado;simples_inicio;simples_fim\n';

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

type Service = Awaited<ReturnType<typeof startTestService>>;
let service: Service;

async function open(file: string, ...options: readonly string[]) {
  const { code, out, err } = await nfseHere(['municipio', 'abrir', file, ...options], service.pool);
  return { code, out: out.trimEnd().split('\n'), err };
}

async function listSlugs(prefix: string): Promise<readonly string[]> {
  const all = await service.store.municipios.list();
  return all.map(({ tenant }) => tenant).filter((tenant) => tenant.startsWith(prefix));
}

before(async () => {
  service = await startTestService({ worker: false });
  write('servicos.csv', LISTA);
  write('prestadores.csv', `${PRESTADORES}11222333000181;Empresa;12345;sim;;\n`);
});

describe('nfse municipio abrir', () => {
  test('opens all of them, and each of them issues', async () => {
    const codes = BAHIA!.slice(0, MANY).map(({ codigoIbge }) => codigoIbge);
    const rows = codes.map((code) => `ba-${code};${code};homologacao;nao;5,00;servicos.csv;prestadores.csv`);
    const head = 'slug;ibge;ambiente;exigir-numero;aliquota;servicos;prestadores';
    const file = write('bahia.csv', `${[head, ...rows].join('\n')}\n`);

    const rehearsed = await open(file, '--previa');
    assert.deepEqual([rehearsed.code, rehearsed.err], [0, '']);
    assert.deepEqual(rehearsed.out.slice(-2), [`criado: ${MANY}`, 'Nada foi gravado: era uma prévia.']);
    assert.deepEqual(await listSlugs('ba-'), []);

    const opened = await open(file, '--motivo', 'adesão de 2026');
    assert.deepEqual([opened.code, opened.err, opened.out.at(-1)], [0, '', `criado: ${MANY}`]);
    assert.equal(opened.out[0], `ba-${codes[0]}: criado; estabelecimentos: novos 1; serviços: novos 1`);
    assert.deepEqual(await listSlugs('ba-'), codes.map((code) => `ba-${code}`).toSorted());

    const again = await open(file);
    assert.deepEqual([again.code, again.out.at(-1)], [0, `igual: ${MANY}`]);
    assert.equal(again.out[0], `ba-${codes[0]}: igual; estabelecimentos: iguais 1; serviços: iguais 1`);
    const ofMunicipio = `select distinct objeto, acao, motivo from atos
      where tenant = $1 and objeto in ('municipio', 'importacao') and motivo is not null order by acao`;
    const acts = await service.pool.query(ofMunicipio, [`ba-${codes[1]}`]);
    assert.deepEqual(acts.rows, [
      { objeto: 'municipio', acao: 'criado', motivo: 'adesão de 2026' },
      { objeto: 'importacao', acao: 'importada', motivo: 'adesão de 2026' },
    ]);

    for (const code of [codes[0]!, codes[MANY - 1]!]) {
      const dps = exampleXml({
        'serv/cServ/cTribNac': '010701',
        'serv/locPrest/cLocPrestacao': code,
        cLocEmi: code,
      });
      const { status, body } = await request(service.address, `/ba-${code}/api/v1/nfse/v101`, {
        ...POST_XML,
        body: dps,
      });
      assert.equal(status, 201, JSON.stringify(body));
    }
  });

  test('carries out the good lines, names the fault of each bad one, and goes on once it is mended', async () => {
    const [a, b, c, d, e, f] = SERGIPE!.map(({ codigoIbge }) => codigoIbge);
    write('ruim.csv', `${LISTA}002;Outro;999999;5,00;2024-01-01\n`);
    write('baixa.csv', LISTA.replace('5,00', '1,00'));
    const head = 'Slug;IBGE;ambiente;exigir_numero;servicos';
    const lines = [
      `se-a;${a};homologacao;;servicos.csv`,
      'se-b;1234567;homologacao;;',
      `se-c;${c};homologacao;talvez;`,
      `se-d;${d};homologacao;;nada.csv`,
      `se-e;${e};homologacao;;ruim.csv`,
      `se-f;${f};homologacao;;baixa.csv`,
      `se-a;${b};homologacao;;`,
      `São João;${b};homologacao;;`,
      'se-g;;homologacao;;',
    ];
    const file = write('sergipe.csv', `${[head, ...lines].join('\n')}\n`);
    const first = await open(file);
    assert.equal(first.code, 1);
    const problems = first.out.filter((line) => line.includes('PROBLEMA')).join('\n');
    for (const expected of [
      /ibge 1234567 não é o código IBGE/,
      /exigir-numero pede sim ou nao; veio "talvez"/,
      /servicos: o arquivo .*nada\.csv não existe/,
      /servicos: linha 3: codigo_tributacao_nacional/,
      /servicos: confirme com --confirmar: Linhas com alíquota abaixo de 2 %/,
      /a linha 2 já diz este município/,
      /O endereço "São João" não serve/,
      /Falta --ibge/,
    ])
      assert.match(problems, expected);
    assert.deepEqual(first.out.slice(-2), ['criado: 1', 'com problema: 8']);
    assert.match(first.err, /dê o mesmo arquivo de novo/);
    assert.deepEqual(await listSlugs('se-'), ['se-a', 'se-d', 'se-e', 'se-f']);

    const mended = [
      lines[0],
      `se-b;${b};homologacao;;`,
      `se-c;${c};homologacao;nao;`,
      `se-d;${d};homologacao;nao;servicos.csv`,
      lines[5],
    ];
    write('sergipe.csv', `${[head, ...mended].join('\n')}\n`);
    const second = await open(file, '--confirmar');
    assert.deepEqual(
      [second.code, second.out.slice(-3)],
      [0, ['igual: 2', 'criado: 2', 'alterado: 1']],
      second.out.join('\n'),
    );
    assert.equal((await service.store.municipios.readFresh('se-c'))!.exigeNumero, false);
  });

  test('refuses a file that it cannot read as a whole, and says what it needs', async () => {
    const strange = await open(write('outra.csv', 'nome;cidade\nA;B\n'));
    assert.equal(strange.code, 1);
    assert.match(strange.err, /falta a coluna slug; colunas desconhecidas: nome, cidade/);
    const empty = await open(write('vazia.csv', 'slug;ibge\n'));
    assert.deepEqual([empty.code, empty.err], [1, 'O arquivo só tem o cabeçalho.\n']);
  });
});
