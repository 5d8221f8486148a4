/** The evidence of a note in the console, as downloaded by a browser without scripts: the roles, the files, and the trail. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { balcao, type NotaEmitida } from '../../../test/support/eventos.ts';
import { enter, makeUsuario, Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { makeEvidencia } from './evidencia.ts';

const SLUG = 'integracao';
const service = await startTestService();
const painel = await startTestPainel(service);
const here = balcao(service.address, SLUG);

let atendente: Pessoa;
let leitor: Pessoa;
let vizinha: Pessoa;
let nota: NotaEmitida;
let pagina: string;
let lugar: string;

before(async () => {
  await service.store.municipios.create(
    { tenant: 'vizinho', ambiente: 'homologacao', codigoIbge: undefined },
    service.clock.now,
  );
  atendente = await enter(painel, await makeUsuario(painel, 'tina', { [SLUG]: 'atendimento' }));
  leitor = await enter(painel, await makeUsuario(painel, 'leo', { [SLUG]: 'leitura' }));
  vizinha = await enter(painel, await makeUsuario(painel, 'vera', { vizinho: 'administracao' }));
  nota = await here.issue({ serie: '1', nDPS: '1' });
  await until(async () => (await here.nota(nota)).body.nota?.status === 'autorizada' || undefined, 'autorizada');
  pagina = `/m/${SLUG}/notas/${nota.chave_acesso}`;
  lugar = `/m/${SLUG}/notas/${nota.chave_acesso}/evidencia`;
});

/** The answer as raw bytes. */
async function post(
  who: Pessoa,
  to: string,
  fields: Readonly<Record<string, string>>,
  origin = painel.origin,
): Promise<Response> {
  const headers = {
    Origin: origin,
    'Sec-Fetch-Site': 'same-origin',
    'User-Agent': 'pessoa de teste',
    Cookie: who.cookie,
  };
  const body = new URLSearchParams(fields);
  return fetch(new URL(to, painel.origin), { method: 'POST', headers, body, redirect: 'manual' });
}

const tokenIn = (html: string): string => /name="formulario" value="([^"]*)"/.exec(html)?.[1] ?? '';
const made = async (): Promise<readonly (string | null)[][]> => {
  const atos = await service.store.atos.list(SLUG, { objeto: 'nota', chave: nota.chave_acesso }, 10);
  return atos.map(({ acao, quem, via, motivo }) => [acao, quem, via, motivo]);
};

describe('the evidence of a note in the console', () => {
  test('comes as a file, whole, and who took it is in the trail', async () => {
    const { html } = await atendente.open(pagina);
    assert.match(html, /Reunir as provas desta nota/);
    const answer = await post(atendente, lugar, { formulario: tokenIn(html), motivo: 'ofício 12/2026' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/zip');
    const name = `evidencia-${nota.chave_acesso}.zip`;
    assert.match(answer.headers.get('content-disposition') ?? '', new RegExp(`^attachment; filename="?${name}"?`));
    assert.match(answer.headers.get('cache-control') ?? '', /no-store/);
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-evidencia-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(path.join(folder, name), Buffer.from(await answer.arrayBuffer()));
    assert.deepEqual(await made(), [['evidência extraída', 'tina', 'painel', 'ofício 12/2026']]);
    const unzipped = spawnSync('unzip', ['-q', name], { cwd: folder });
    if (unzipped.error !== undefined) return;
    assert.equal(unzipped.status, 0);
    rmSync(path.join(folder, name));
    const summed = spawnSync('sha256sum', ['--strict', '--quiet', '-c', 'SHA256SUMS'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(summed.status, 0, summed.stdout + summed.stderr);
    assert.match(readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8'), /por\s+tina/);
  });

  test('of who may not, or was led here from elsewhere, nothing comes and nothing is written', async () => {
    const before = await made();
    const refused = async (who: Pessoa, to: string, token: string, origin?: string): Promise<number> => {
      const answer = await post(who, to, { formulario: token, motivo: 'x' }, origin);
      assert.notEqual(answer.headers.get('content-type'), 'application/zip');
      assert.ok(!(await answer.text()).includes('PK\u0003\u0004'));
      return answer.status;
    };
    const read = await leitor.open(pagina);
    assert.equal(read.status, 200);
    assert.doesNotMatch(read.html, /Reunir as provas desta nota/, 'who only reads is not offered it');
    assert.equal(await refused(leitor, lugar, tokenIn(read.html)), 403);
    const { html } = await atendente.open(pagina);
    const token = tokenIn(html);
    assert.equal(await refused(new Pessoa(painel), lugar, token), 303, 'a stranger is asked to enter');
    const own = tokenIn((await vizinha.open('/m/vizinho')).html);
    assert.equal(await refused(vizinha, lugar, own), 404, 'of another municipality there is not even the page');
    assert.equal(
      await refused(vizinha, lugar.replace(SLUG, 'vizinho'), own),
      404,
      'nor the note under its own address',
    );
    assert.equal(await refused(atendente, lugar, token, 'https://outro.exemplo'), 403);
    assert.equal(await refused(atendente, lugar, 'x'), 403, 'without the token of the page');
    const linked = await atendente.open(lugar);
    assert.equal(linked.status, 405, 'no link makes one');
    assert.deepEqual(await made(), before);
  });
});

/** One changed column, and the sentence of the bundle about it; `$1` is the key of the note. */
const CHANGES = [
  [
    'update notas set valor_servico = 1 where chave_acesso = $1',
    ['valor do serviço: 1000.00 na NFS-e, e 1.00 na linha do banco'],
  ],
  [
    `update notas set tomador_cpf_cnpj = '11222333000181', valor_issqn = 7 where chave_acesso = $1`,
    [
      /^CNPJ ou CPF do tomador: \d+ na NFS-e, e 11222333000181 na linha do banco$/,
      /^valor do ISSQN: .* na NFS-e, e 7\.00 na linha/,
    ],
  ],
  [
    `update documentos d set nfse = replace(convert_from(nfse, 'UTF8'), '<vServ>1000.00</vServ>', '<vServ>1.00</vServ>')::bytea
      from notas n where n.chave_acesso = $1 and d.nota = n.id`,
    [
      'valor do serviço: 1.00 na NFS-e, e 1000.00 na linha do banco',
      'valor do serviço: 1.00 na NFS-e, e 1000.00 no que o prestador declarou',
    ],
  ],
  [
    `update documentos d set recebido = replace(replace(convert_from(recebido, 'UTF8'), '<infDPS', '<infOutro'), '</infDPS', '</infOutro')::bytea
      from notas n where n.chave_acesso = $1 and d.nota = n.id`,
    ['o que o prestador declarou não se lê mais como uma DPS, e não foi comparado com a NFS-e'],
  ],
] as const;

describe('the page of a bundle whose columns, note and declaration do not say the same', () => {
  const by = { quem: 'maria', via: 'comando', motivo: 'processo 1' } as const;
  const make = async (chave: string) => {
    const bundle = await makeEvidencia({ store: service.store, now: () => service.clock.now }, SLUG, chave, by);
    if ('problem' in bundle) assert.fail(bundle.problem);
    return bundle;
  };
  /** The text of the page, if this machine has a program that opens the ZIP. */
  const pageOf = (zip: Buffer): string | undefined => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'nfse-evidencia-')), 'conjunto.zip');
    onEnd(() => rmSync(path.dirname(file), { recursive: true, force: true }));
    writeFileSync(file, zip);
    const { error, stdout } = spawnSync('unzip', ['-p', file, 'LEIA-ME.txt'], { encoding: 'utf8' });
    return error === undefined ? stdout.replace(/\s+/g, ' ') : undefined;
  };

  for (const [place, [change, wanted]] of CHANGES.entries()) {
    test(`says so before all else, and names the own amounts: change ${place + 1}`, async () => {
      const { chave_acesso } = await here.issue({ serie: '1', nDPS: String(10 + place) });
      assert.deepEqual((await make(chave_acesso)).contradicoes, []);
      await service.pool.query(change, [chave_acesso]);
      const { contradicoes, zip } = await make(chave_acesso);
      assert.equal(contradicoes.length, wanted.length, `${contradicoes}`);
      for (const [at, want] of wanted.entries()) {
        if (typeof want === 'string') assert.equal(contradicoes[at], want);
        else assert.match(contradicoes[at]!, want);
      }
      const page = pageOf(zip);
      if (page === undefined) return;
      const [ahead, later] = ['ESTE CONJUNTO SE CONTRADIZ', '1-declaracao/'].map((words) => page.indexOf(words));
      assert.ok(ahead! > 0 && ahead! < later!, page.slice(0, 3_000));
      for (const one of contradicoes) assert.ok(page.includes(one.replace(/\s+/g, ' ')), one);
      assert.match(page, place === 2 ? /Valor do serviço:? +R\$ 1,00/ : /Valor do serviço:? +R\$ 1\.000,00/);
    });
  }
});
