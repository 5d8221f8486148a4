/** The page of a bundle as text and as HTML, for lawyers and for the expert whom a judge appoints. */
import type { ArquivoDoConjunto, Conferencia, Parte } from './partes.ts';

export type LeiaMe = {
  readonly chave: string;
  /** Names and values of the note's summary. */
  readonly dados: readonly (readonly [string, string])[];
  readonly partes: readonly Parte[];
};

const PREFACIO = [
  'Este conjunto reúne o que o emissor de notas do município guarda de uma nota fiscal de serviço eletrônica (NFS-e), para que um perito a confira sem o emissor e sem confiar em quem o opera.',
  'Cada documento assinado está aqui byte a byte como foi recebido ou enviado. Uma assinatura digital que confere prova duas coisas: que o documento não mudou desde que foi assinado, e que quem o assinou tinha a chave do certificado que vai ao lado. A cadeia de certificados prova que uma autoridade responde por esse certificado.',
  'O que não tem assinatura de uma parte (os movimentos, os atos, os passos do cálculo) é o registro do próprio serviço: vale pelo resumo do conjunto e, onde houver, pela assinatura do município sobre ele. Os momentos são os do relógio do serviço, na hora do município onde não se diz outra.',
  'O conjunto contém dados pessoais das partes da nota. Foi feito para uma finalidade; quem o recebe responde por guardá-lo.',
];

const COMO = [
  'Para conferir é preciso um computador com Linux e os programas openssl (3 ou mais novo) e xmlsec1; no Debian e no Ubuntu: apt install openssl xmlsec1. Extraia o conjunto numa pasta vazia, abra um terminal nela, e dê os comandos abaixo, um de cada vez. Depois de cada um está o que ele deve mostrar; se mostra outra coisa, o que ele confere não se sustenta. Alguns comandos deixam na pasta um arquivo seu (publica.pem, assinante.pem), que não é do conjunto. Nos do xmlsec1, o que está em $( ) acrescenta uma opção que só as versões desde a 1.3 têm, e pedem.',
  'De quem é um certificado, quem o emitiu e até quando vale se lê com openssl x509 -in ARQUIVO -noout -subject -issuer -dates: o nome de um certificado da ICP-Brasil termina pelo CNPJ ou CPF do titular, que se compara com o do documento.',
];

/** The checks of the bundle as a whole: the signature of the digest list, and the digests. */
export type Resumo = {
  readonly titulo: string;
  readonly paragrafos: readonly string[];
  readonly conferencias: readonly Conferencia[];
};

type Bloco =
  | { readonly kind: 'titulo' | 'texto' | 'comando' | 'resposta'; readonly text: string }
  | { readonly kind: 'lista'; readonly rows: readonly (readonly [string, string])[] };

function blocosOf({ chave, dados, partes }: LeiaMe, resumo: Resumo): readonly Bloco[] {
  const texto = (text: string): Bloco => ({ kind: 'texto', text });
  const titulo = (text: string): Bloco => ({ kind: 'titulo', text });
  const conferir = ({ oQue, comando, resposta }: Conferencia): readonly Bloco[] => [
    texto(`${oQue}:`),
    { kind: 'comando', text: comando },
    texto('Deve mostrar, entre o que disser:'),
    { kind: 'resposta', text: resposta },
  ];
  const listar = (arquivos: readonly ArquivoDoConjunto[]): Bloco => ({
    kind: 'lista',
    rows: arquivos.map(({ nome, oQue }) => [nome, oQue] as const),
  });
  return [
    ...PREFACIO.map(texto),
    titulo('A nota'),
    { kind: 'lista', rows: [['Chave de acesso', chave], ...dados] },
    titulo('Como conferir'),
    ...COMO.map(texto),
    ...[resumo].flatMap((one) => [
      titulo(one.titulo),
      ...one.paragrafos.map(texto),
      ...one.conferencias.flatMap(conferir),
    ]),
    ...partes.flatMap((parte) => [
      titulo(parte.titulo),
      ...parte.paragrafos.map(texto),
      listar(parte.arquivos),
      ...parte.conferencias.flatMap(conferir),
    ]),
  ];
}

/** Names in certificates may contain any character. */
const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

const WIDTH = 100;

function wrap(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    if (line !== '' && indent.length + line.length + word.length >= WIDTH) {
      lines.push(indent + line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, indent + line].join('\n');
}

export function leiaMeText(leiaMe: LeiaMe, resumo: Resumo): string {
  const lines = blocosOf(leiaMe, resumo).map((bloco) => {
    switch (bloco.kind) {
      case 'titulo':
        return `\n${plain(bloco.text).toUpperCase()}`;
      case 'texto':
        return wrap(bloco.text);
      case 'comando':
        return `    ${plain(bloco.text)}`;
      case 'resposta':
        return `    ${plain(bloco.text)}`;
      case 'lista':
        return bloco.rows.map(([nome, oQue]) => `  ${plain(nome)}\n${wrap(oQue, '      ')}`).join('\n');
      default:
        return bloco satisfies never;
    }
  });
  return `CONJUNTO DE PROVAS DA NFS-e ${leiaMe.chave}\n\n${lines.join('\n\n')}\n`;
}

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => plain(text).replace(/[&<>"]/g, (one) => ESCAPED[one]!);

const tag = (name: string, inside: string, attributes = ''): string => `<${name}${attributes}>${inside}</${name}>`;

const STYLE = `body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.2rem;margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem}
dt{font-family:ui-monospace,monospace;overflow-wrap:anywhere}dd{margin:0 0 .6rem 1.5rem;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.6rem .8rem;border-radius:4px;margin:.4rem 0 1rem}
pre.comando{background:#1f2933;color:#f5f7fa}pre.resposta{background:#eef3ee;color:#1b1b1b}`;

export function leiaMeHtml(leiaMe: LeiaMe, resumo: Resumo): string {
  const parts = blocosOf(leiaMe, resumo).map((bloco) => {
    switch (bloco.kind) {
      case 'titulo':
        return `<h2>${escapeHtml(bloco.text)}</h2>`;
      case 'texto':
        return `<p>${escapeHtml(bloco.text)}</p>`;
      case 'comando':
      case 'resposta':
        return `<pre class="${bloco.kind}">${escapeHtml(bloco.text)}</pre>`;
      case 'lista':
        return tag(
          'dl',
          bloco.rows.map(([nome, oQue]) => tag('dt', escapeHtml(nome)) + tag('dd', escapeHtml(oQue))).join('\n'),
        );
      default:
        return bloco satisfies never;
    }
  });
  const title = `Conjunto de provas da NFS-e ${escapeHtml(leiaMe.chave)}`;
  const head = [CHARSET, tag('title', title), tag('style', STYLE)].join('\n');
  const body = [tag('h1', title), ...parts].join('\n');
  return `<!doctype html>\n${tag('html', tag('head', head) + tag('body', body), ' lang="pt-BR"')}\n`;
}

const CHARSET = '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">';
