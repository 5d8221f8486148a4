/** The received request of a note or an event: the exact bytes and their signature, inside an XML or beside a JSON. */

import type { Municipio } from '../../base/book/municipios.ts';
import { isJson } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { verifyCms } from '../../documents/cms.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import { findAssinado } from './assinado-xml.ts';
import { type Confianca, gatherCadeia } from './cadeia.ts';
import type { Conferencia, Parte } from './partes.ts';

/** `nome`: the file name without ending; `at`: the moment of reception, in milliseconds. */
export type Recebido = {
  readonly pasta: string;
  readonly nome: string;
  readonly oQue: string;
  readonly bytes: Buffer;
  /** The value of a JSON's signature header, as received. */
  readonly assinatura: string | null;
  /** The description of a signature that did not come in a header. */
  readonly oQueAssinatura?: string;
  readonly confianca: Confianca;
  readonly at: number;
  /** Chooses one of several signatures by its parent elements. */
  readonly choose?: (parents: readonly Elemento[]) => Elemento | undefined;
};

type Assinado = Omit<Parte, 'titulo'>;

const UNSIGNED =
  'Chegou sem assinatura, o que só se aceita num ambiente de ensaio: não há o que conferir além do resumo.';

/** The files and the checks of the received request. */
export function gatherRecebido(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  recebido: Recebido,
): Promise<Assinado> {
  return isJson(recebido.bytes) ? gatherJson(world, municipio, recebido) : gatherXml(world, municipio, recebido);
}

async function gatherXml(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  { pasta, nome, oQue, bytes, confianca, at, choose = ([first]) => first }: Recebido,
): Promise<Assinado> {
  const arquivo = { nome: `${pasta}/${nome}.xml`, conteudo: bytes, oQue };
  const found = findAssinado(bytes, choose);
  if (found === undefined) return { paragrafos: [UNSIGNED], arquivos: [arquivo], conferencias: [] };
  const { certificate } = found;
  const cadeia = await gatherCadeia(world, municipio, { pasta, certificate, at, confianca });
  return {
    paragrafos: cadeia.paragrafos,
    arquivos: [arquivo, ...cadeia.arquivos],
    conferencias: [found.conferencia(arquivo.nome, `${pasta}/signatario.pem`), ...cadeia.conferencias],
  };
}

async function gatherJson(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  { pasta, nome, oQue, bytes, assinatura, oQueAssinatura = IN_A_HEADER, confianca, at }: Recebido,
): Promise<Assinado> {
  const arquivo = { nome: `${pasta}/${nome}.json`, conteudo: bytes, oQue };
  if (assinatura === null) return { paragrafos: [UNSIGNED], arquivos: [arquivo], conferencias: [] };
  const der = Buffer.from(assinatura, 'base64');
  const cms = {
    nome: `${pasta}/${nome}.p7s`,
    conteudo: der,
    oQue: oQueAssinatura,
  };
  const { certificate, extra } = verifyCms(assinatura, bytes, '');
  if (certificate === undefined) {
    return { paragrafos: [UNREAD], arquivos: [arquivo, cms], conferencias: [] };
  }
  const cadeia = await gatherCadeia(world, municipio, { pasta, certificate, at, extra, confianca });
  const conferencia: Conferencia = {
    oQue: 'O conteúdo é o que foi assinado, sem um byte mudado, e quem assinou foi a chave deste certificado',
    comando: `openssl cms -verify -binary -inform DER -in ${cms.nome} -content ${arquivo.nome} -noverify -signer assinante.pem -out /dev/null && cmp assinante.pem ${pasta}/signatario.pem`,
    resposta: 'CMS Verification successful',
  };
  return {
    paragrafos: cadeia.paragrafos,
    arquivos: [arquivo, cms, ...cadeia.arquivos],
    conferencias: [conferencia, ...cadeia.conferencias],
  };
}

const IN_A_HEADER = 'A assinatura que veio num cabeçalho ao lado (CMS destacado, em DER), como veio.';
const UNREAD = 'O que veio como assinatura não se lê como uma, o que só se aceita num ambiente de ensaio.';
