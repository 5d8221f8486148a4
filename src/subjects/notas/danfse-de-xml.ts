/**
 * The DANFSe of notes in files, without the service or its database: the XML of each NFS-e, and of the events that cancelled some of them
 * (D-920).
 */
import { renderDanfse, type SituacaoImpressa } from '../../documents/danfse.ts';
import { writeFileFor } from '../../documents/new-files.ts';
import { readXml } from '../../documents/xml.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import { quoted } from '../../fiscal/fault.ts';
import { DPS_NAMESPACE, DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { INF_NFSE } from '../../fiscal/layout/nfse.ts';
import { attributeOf, childOf, type Elemento } from '../../fiscal/layout/tree.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';

export type XmlDado = { readonly arquivo: string; readonly bytes: Uint8Array };

/** `situacao` undefined: none of the given events cancels the note. */
export type DanfseImpresso = {
  readonly arquivo: string;
  readonly chave: string;
  readonly situacao: SituacaoImpressa | undefined;
  readonly pdf: Buffer;
};
export type DanfseRecusado = { readonly arquivo: string; readonly problema: string };

/** Prints each NFS-e among the files; an event serves the notes beside it. Files that are neither are refused, each with its reason. */
export function* printDanfses(dados: readonly XmlDado[]): Generator<DanfseImpresso | DanfseRecusado> {
  const read = dados.map(({ arquivo, bytes }) => ({ arquivo, bytes, ...readDocument(bytes) }));
  const eventos = new Map<string, Set<string>>();
  const notas = new Set<string>();
  for (const { chave, evento } of read) {
    if (chave === undefined) continue;
    if (evento === undefined) notas.add(chave);
    else eventos.getOrInsertComputed(chave, () => new Set()).add(evento);
  }
  for (const { arquivo, bytes, chave, evento, problema } of read) {
    if (problema !== undefined) yield { arquivo, problema };
    else if (evento === undefined) {
      const situacao = (['substituida', 'cancelada'] as const).find((one) => eventos.get(chave)?.has(one));
      yield { arquivo, chave, situacao, pdf: renderDanfse(bytes, situacao) };
    } else if (!notas.has(chave)) yield { arquivo, problema: withoutNota(chave) };
  }
}

const withoutNota = (chave: string): string => `é um evento da nota ${chave}, e o XML dela não está entre os arquivos.`;

/** An NFS-e, an event of one, or the reason why the file is neither. */
type Documento =
  | { readonly chave: string; readonly evento: SituacaoImpressa | 'outro' | undefined; readonly problema?: undefined }
  | { readonly chave?: undefined; readonly evento?: undefined; readonly problema: string };

function readDocument(bytes: Uint8Array): Documento {
  if (!/^(?:\xef\xbb\xbf)?\s*</.test(Buffer.from(bytes.subarray(0, 1_024)).toString('latin1')))
    return { problema: NO_XML };
  const reading = readXml(bytes);
  if ('fault' in reading) return { problema: reading.fault.mensagem };
  const { root } = reading;
  if (root.name !== 'evento' && root.name !== 'NFSe')
    return { problema: OUTROS[root.name] ?? `o elemento raiz é <${quoted(root.name)}>, e o de uma NFS-e é <NFSe>.` };
  if (root.namespace !== DPS_NAMESPACE)
    return { problema: `<${root.name}> não está no espaço de nomes nacional, ${DPS_NAMESPACE}.` };
  return root.name === 'evento' ? readEvento(root) : readNota(root);
}

const NO_XML = 'não começa com um elemento XML: dê o XML como ele é, fora de envelope, gzip e Base64.';

/** Paper of half a note would pass for a whole one. */
function readNota(root: Elemento): Documento {
  const versao = attributeOf(root, 'versao') ?? '';
  if (versao !== DPS_VERSAO)
    return { problema: `o leiaute da nota é ${quoted(versao) || 'nenhum'}, e só o ${DPS_VERSAO} se imprime aqui.` };
  const infNfse = childOf(root, 'infNFSe');
  const chave = /^NFS(.*)$/s.exec((infNfse && attributeOf(infNfse, 'Id')) ?? '')?.[1];
  if (chave === undefined) return { problema: 'o Id de infNFSe não é NFS e os 50 caracteres de uma chave de acesso.' };
  const missing = INF_NFSE.find(({ name, min }) => min === 1 && childOf(infNfse, name) === undefined)?.name;
  if (missing !== undefined) return { problema: `falta ${missing} em infNFSe: não é uma NFS-e inteira.` };
  if (childOf(childOf(infNfse, 'DPS'), 'infDPS') === undefined)
    return { problema: 'falta infDPS em DPS: não é uma NFS-e inteira.' };
  const problema = whyNoChave(chave);
  return problema === undefined ? { chave, evento: undefined } : { problema };
}

/** Roots of documents that come into such a folder by mistake. */
const OUTROS: Readonly<Record<string, string>> = {
  DPS: 'é uma DPS, que ainda não é nota: só a NFS-e autorizada tem DANFSe.',
  pedRegEvento: 'é o pedido de um evento: só o evento registrado (<evento>) diz que a nota foi cancelada.',
};

function readEvento(root: Elemento): Documento {
  const inner = childOf(childOf(root, 'infEvento'), 'pedRegEvento');
  const pedido = childOf(inner, 'infPedReg');
  const chave = childOf(pedido, 'chNFSe')?.text;
  const codigo = pedido?.children.flatMap(({ name }) => /^e(\d{6})$/.exec(name)?.[1] ?? [])[0];
  if (chave === undefined || codigo === undefined) return { problema: 'o evento não diz a nota (chNFSe) ou o tipo.' };
  const tipo = tipoByCodigo(codigo);
  if (tipo?.cancela !== true) return { chave, evento: 'outro' };
  return { chave, evento: tipo.slug === 'cancelamento_por_substituicao' ? 'substituida' : 'cancelada' };
}

/** Writes a file that must not exist; the result is the reason why it was not written, in Portuguese. */
export async function writeNew(file: string, content: Buffer): Promise<string | undefined> {
  try {
    await writeFileFor(file, content, { flag: 'wx' });
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return `já existe ${file}, e nada é escrito por cima.`;
    const why = code === 'ENOENT' ? 'a pasta não existe' : code;
    return `${file} não pôde ser escrito (${why}).`;
  }
}
