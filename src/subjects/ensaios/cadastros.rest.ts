/**
 * The registers on the pages of a private sandbox: shown, downloaded, and uploaded by the integrators' address. A register is a row of a
 * table.
 */

import { API_HEADERS } from '../../base/http/attend.ts';
import type { HttpAnswer } from '../../base/http/message.ts';
import { streamed } from '../../base/http/streams.ts';
import type { Door, Visit } from '../../base/http/visit.ts';
import { cleanText } from '../../base/pages/forms.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { describeColumn, REGISTERS } from '../../fiscal/registers.ts';
import { BODY_MAX_BYTES, BODY_MAX_TEXT } from '../../published/http-limits.ts';
import { framePage, relativePath } from '../../published/site/frame.ts';
import { html } from '../../published/site/page-shell.ts';
import {
  aliquotasDeEnsaioAsRows,
  COLUNAS_ALIQUOTA,
  exportAliquotasDeEnsaio,
  ORDEM_ALIQUOTA,
  TRIBUTO_EM_PALAVRAS,
} from '../cadastros/import-aliquotas.ts';
import { exportRegistro, firstLinesOf, REGISTROS, type RegistroNome } from '../cadastros/registros.ts';
import { CADASTRO_PATH } from './ambientes.rest.ts';
import { ALIQUOTAS, ALIQUOTAS_TITULO, type CadastroImportado } from './ambientes.ts';
import { type CadastroDaPagina, cadastroPage, type Envio } from './cadastro.page.ts';
import { type Own, ownerOf, page, readFormUpTo, sendOwn } from './dono.rest.ts';

/** Lines that a page shows; the file has all of them. */
const SHOWN_MAX = 50;
/** A form with a text and a file, each of the greatest allowed length. */
const FORM_MAX_BYTES = 2 * BODY_MAX_BYTES + 16 * 1024;

type Cadastro = CadastroDaPagina & {
  /** Its first lines, one more than the page shows. */
  readonly first: (own: Own, max: number) => Promise<readonly (readonly string[])[]>;
  readonly csv: (own: Own) => AsyncIterable<string>;
  /** The address that takes its file. */
  readonly to: { readonly path: string; readonly params: Readonly<Record<string, string>> };
};

function ofRegistro(nome: RegistroNome): Cadastro {
  const { titulo, columns, order, isWhole = false } = REGISTROS[nome];
  return {
    ...{ nome, titulo, sobre: REGISTERS[nome].sobre, isWhole },
    colunas: order.map((column) => {
      const { label, help, choices } = describeColumn(nome, column);
      const one = choices && `Um de: ${choices.map(([value]) => value).join(', ')}.`;
      const diz = [label, help, one].filter((said) => said !== undefined).join('. ');
      return { nome: column, diz, isNeeded: columns.required.includes(column) };
    }),
    first: ({ world, municipio }, max) => firstLinesOf(world, nome, municipio.tenant, max),
    csv: ({ world, municipio }) => exportRegistro(world, nome, municipio.tenant),
    to: { path: CADASTRO_PATH, params: { cadastro: nome } },
  };
}

/** Descriptions of the columns of the rates; mandatory columns come first. */
const COLUNAS_ALIQUOTA_DIZEM: Readonly<Record<string, string>> = {
  tributo: TRIBUTO_EM_PALAVRAS,
  inicio: 'O primeiro dia em que vale, de 2026 em diante',
  aliquota: 'Em percentual, com até quatro casas, sem o sinal %',
  fonte: 'Onde foi lida; no ensaio, o que quiser',
  ato: 'A norma que a fixa; no ensaio, o que quiser',
  fim: 'O último dia em que vale; vazio: sem fim',
  uf: 'Só com IBS-UF: de que estado; vazio: todos',
  municipio: 'Só com IBS-MUN: o código IBGE; vazio: todos',
  cclasstrib: 'Só com IBS-UF, IBS-MUN e CBS: a classificação que tem alíquota própria; vazio: todas',
};

const DE_ALIQUOTAS: Cadastro = {
  ...{ nome: ALIQUOTAS, titulo: ALIQUOTAS_TITULO, isWhole: true },
  sobre:
    'As que só este ambiente tem. Nos dias delas valem antes das nacionais, e a nota retida por falta de alíquota segue.',
  colunas: ORDEM_ALIQUOTA.map((nome) => ({
    nome,
    diz: COLUNAS_ALIQUOTA_DIZEM[nome]!,
    isNeeded: COLUNAS_ALIQUOTA.required.includes(nome),
  })),
  first: async ({ world, municipio }, max) => (await aliquotasDeEnsaioAsRows(world, municipio.tenant)).slice(0, max),
  csv: ({ world, municipio }) => exportAliquotasDeEnsaio(world, municipio.tenant),
  to: { path: CADASTRO_PATH, params: { cadastro: ALIQUOTAS } },
};

/** The registers, in the order of the page. */
export const CADASTROS_DO_ENSAIO: readonly Cadastro[] = [
  ...(Object.keys(REGISTROS) as RegistroNome[]).map(ofRegistro),
  DE_ALIQUOTAS,
];

/** The owner and the register that the address names; an answer when one of the two is missing. */
async function cadastroOf(door: Door, visit: Visit): Promise<{ own: Own; cadastro: Cadastro } | HttpAnswer> {
  const own = await ownerOf(door, visit);
  if ('status' in own) return own;
  const cadastro = CADASTROS_DO_ENSAIO.find(({ nome }) => nome === visit.request.params['cadastro']);
  if (cadastro !== undefined) return { own, cadastro };
  const at = `${own.here}/cadastros/x`;
  const main = html`
<h1>Não há este cadastro</h1>
<p><a href="${relativePath(at, own.here)}#cadastros">Ver os que há</a></p>
`;
  return page(framePage('Não há este cadastro', main, at), 404);
}

export async function showCadastro(door: Door, visit: Visit): Promise<HttpAnswer> {
  const found = await cadastroOf(door, visit);
  return 'status' in found ? found : shown(found.own, found.cadastro);
}

type Sent = { readonly envio: Envio; readonly texto: string; readonly status: number };

async function shown(own: Own, cadastro: Cadastro, sent?: Sent): Promise<HttpAnswer> {
  const lines = await cadastro.first(own, SHOWN_MAX + 1);
  const at = `${own.here}/cadastros/${cadastro.nome}`;
  const main = cadastroPage({
    cadastro,
    municipio: own.municipio.tenant,
    back: relativePath(at, own.here),
    linhas: lines.slice(0, SHOWN_MAX),
    isMore: lines.length > SHOWN_MAX,
    envio: sent?.envio,
    texto: sent?.texto ?? '',
  });
  return page(framePage(`${cadastro.titulo} (${own.municipio.tenant})`, main, at), sent?.status);
}

export async function downloadCadastro(door: Door, visit: Visit): Promise<HttpAnswer> {
  const found = await cadastroOf(door, visit);
  if ('status' in found) return found;
  const { own, cadastro } = found;
  const { served: body, type, headers } = streamed('text/csv', cadastro.csv(own), cadastro.nome);
  return { status: 200, headers: { ...API_HEADERS, 'Content-Type': type, ...headers }, body };
}

const describeTooLong = ({ isWhole }: Cadastro): string =>
  `O arquivo passa de ${BODY_MAX_TEXT}, que é o máximo. ${isWhole ? 'Este cadastro é um arquivo só: tire linhas.' : 'Envie-o em partes, cada uma com o cabeçalho.'}`;

export async function fillCadastro(door: Door, visit: Visit): Promise<HttpAnswer> {
  const found = await cadastroOf(door, visit);
  if ('status' in found) return found;
  const { own, cadastro } = found;
  const refuse = (problema: string, status = 400, texto = ''): Promise<HttpAnswer> =>
    shown(own, cadastro, { envio: { problema }, texto, status });
  const form = await readFormUpTo(visit.request, FORM_MAX_BYTES);
  if (form === 'too_long') return refuse(describeTooLong(cadastro), 413);
  const content = form.file('arquivo')?.content ?? Buffer.from(form.text('csv'));
  const texto = textOf(content);
  if (texto.trim() === '') return refuse('Não veio nada: cole as linhas, com o cabeçalho, ou escolha um arquivo.');
  if (content.length > BODY_MAX_BYTES) return refuse(describeTooLong(cadastro), 413, texto);
  return answered(own, cadastro, texto, await send(door, visit, own, cadastro, content));
}

/** Sends a file as an integrator does, with the owner's key and the same limits. */
async function send(door: Door, visit: Visit, own: Own, { to }: Cadastro, content: Buffer): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${own.chave}` };
  return (await sendOwn(door, visit, own, { ...to, content, type: 'text/csv', headers })).answer;
}

/** The answer of the API's address. */
type Answered = CadastroImportado & {
  readonly mensagem: string;
  readonly detalhes: { readonly recusadas?: number };
  readonly erros: readonly { readonly mensagem: string }[];
};

function answered(own: Own, cadastro: Cadastro, texto: string, { status, body }: HttpAnswer): Promise<HttpAnswer> {
  const said = JSON.parse(String(body)) as Answered;
  if (status === 200 && said.contas.length > 0) {
    return shown(own, cadastro, { envio: { feito: said }, texto: '', status });
  }
  if (status === 200) return shown(own, cadastro, { envio: { problema: NO_LINES }, texto, status: 422 });
  const { recusadas } = said.detalhes;
  if (recusadas === undefined) return shown(own, cadastro, { envio: { problema: said.mensagem }, texto, status });
  const problema =
    recusadas === 1
      ? '1 linha foi recusada.'
      : `${groupDigits(recusadas)} linhas foram recusadas; abaixo, ${recusadas > said.erros.length ? 'as primeiras' : 'quais'}.`;
  return shown(own, cadastro, {
    envio: { problema, recusadas: said.erros.map(({ mensagem }) => mensagem) },
    texto,
    status,
  });
}

const NO_LINES = 'O arquivo não tem linha nenhuma depois do cabeçalho.';

/** The text of a file for a person; `content` may be in the Windows encoding. */
function textOf(content: Buffer): string {
  const utf8 = content.toString('utf8');
  return cleanText(utf8.includes('\uFFFD') ? content.toString('latin1') : utf8).replace(/^\uFEFF/, '');
}
