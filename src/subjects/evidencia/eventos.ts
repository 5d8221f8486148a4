/** The events of a note in its bundle: the request, the sent document, and the answer. */

import type { EventoRow } from '../../base/book/evento-rows.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { presentTrail } from '../../base/world/operator.ts';
import type { World } from '../../base/world/world.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import type { EventoStep } from '../eventos/eventos.rows.ts';
import { signedEvento } from '../eventos/operate.ts';
import { publicEvento } from '../eventos/queries.ts';
import { findAssinado } from './assinado-xml.ts';
import { gatherCadeia } from './cadeia.ts';
import { jsonFile, type Parte, type Respostas, respostasOf } from './partes.ts';
import { gatherRecebido } from './recebido.ts';

type EventoWorld = Pick<World, 'store' | 'now'>;

/** An event with its moves. */
export type EventoComTrilha = {
  readonly row: EventoRow;
  readonly trilha: readonly EventoStep[];
  readonly respostas: Respostas;
};

/** A part for each event, in the order of registration. */
export async function gatherEventos(
  world: EventoWorld,
  municipio: Municipio,
  eventos: readonly EventoComTrilha[],
): Promise<readonly Parte[]> {
  return Array.fromAsync(eventos, (one, place) => gatherEvento(world, municipio, one, place + 1));
}

/** `place`: the position among the events of the note, from 1. */
export function pastaOfEvento({ codigo_tipo_evento }: EventoRow, place: number): string {
  return `5-eventos/${place}-${tipoByCodigo(codigo_tipo_evento)!.slug}`;
}

async function gatherEvento(
  world: EventoWorld,
  municipio: Municipio,
  { row, trilha, respostas }: EventoComTrilha,
  place: number,
): Promise<Parte> {
  const { tenant } = municipio;
  const { descricao } = tipoByCodigo(row.codigo_tipo_evento)!;
  const pasta = pastaOfEvento(row, place);
  const [documents, confianca] = await Promise.all([
    world.store.eventos.readDocuments(tenant, row.id),
    world.store.evidencia.readConfiancaDoEvento(tenant, row),
  ]);
  const { recebido, recebido_assinatura } = documents!;
  const asked =
    recebido === null
      ? {
          paragrafos: ['Foi registrado de ofício pelo município: não há pedido de uma parte.'],
          arquivos: [],
          conferencias: [],
        }
      : await gatherRecebido(world, municipio, {
          pasta: `${pasta}/pedido`,
          nome: 'pedido',
          oQue: 'O pedido, byte a byte como foi recebido.',
          bytes: recebido,
          assinatura: recebido_assinatura,
          confianca,
          at: row.criado_em.getTime(),
        });
  const sent = await gatherSent(world, municipio, { row, pasta, xml: Buffer.from(signedEvento(documents!)) });
  const situacao = { ...publicEvento(row, world.now()), autor: row.autor, campos: row.campos };
  return {
    titulo: `Evento ${place}: ${descricao}`,
    paragrafos: [`Está ${row.estado}.`, ...asked.paragrafos, ...sent.paragrafos],
    arquivos: [
      ...asked.arquivos,
      ...sent.arquivos,
      jsonFile(`${pasta}/situacao.json`, situacao, 'Em que situação está, e o que o ADN respondeu.'),
      jsonFile(
        `${pasta}/trilha.json`,
        presentTrail(row.chave_acesso, trilha),
        'Cada movimento do evento: quando, por quê, e quem, se foi alguém.',
      ),
      ...respostasOf(pasta, trilha, respostas),
    ],
    conferencias: [...asked.conferencias, ...sent.conferencias],
  };
}

async function gatherSent(
  world: EventoWorld,
  municipio: Municipio,
  { row, pasta, xml }: { readonly row: EventoRow; readonly pasta: string; readonly xml: Buffer },
): Promise<Omit<Parte, 'titulo'>> {
  const arquivo = { nome: `${pasta}/evento.xml`, conteudo: xml, oQue: 'O evento, como o município o envia ao ADN.' };
  const found = findAssinado(xml, (parents) => parents.find(({ name }) => name === 'evento'));
  if (found === undefined) {
    const paragrafos = ['O evento não traz assinatura do município: não foi enviado ao ADN.'];
    return { paragrafos, arquivos: [arquivo], conferencias: [] };
  }
  const at = (row.processado_em ?? row.criado_em).getTime();
  const cadeia = await gatherCadeia(world, municipio, {
    pasta,
    certificate: found.certificate,
    at,
    confianca: 'própria',
  });
  return {
    paragrafos: ['O evento é assinado pelo município.', ...cadeia.paragrafos],
    arquivos: [arquivo, ...cadeia.arquivos],
    conferencias: [found.conferencia(arquivo.nome, `${pasta}/signatario.pem`), ...cadeia.conferencias],
  };
}
