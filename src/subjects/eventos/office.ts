/** Events that the municipality registers by office: the municipality is their author, and signs them when it sends them. */

import type { Municipio } from '../../base/book/municipios.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { noNota, type PorMao, type Problem } from '../../base/world/operator.ts';
import { isHeldBy, maskedDocument } from '../../documents/certificate.ts';
import { readJson } from '../../documents/json.ts';
import { loadSigner } from '../../documents/key-files.ts';
import { documentoKind, whyNoChave, whyNoDocumento } from '../../fiscal/chave.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import { readPedido } from '../../fiscal/pedido-evento.ts';
import { type EventoPublico, identificadorOf } from './queries.ts';
import { registerPedido } from './register.ts';

export type PedidoDoMunicipio = {
  readonly chave: string;
  /** The request, in the form of the integrators' body. */
  readonly corpo: Uint8Array;
  /** CNPJ of the municipality, when no certificate has it. */
  readonly cnpj: string | undefined;
  readonly porMao: PorMao;
};

export type RegistradoDeOficio = {
  readonly evento: EventoPublico;
  readonly identificador: string;
  readonly avisos: readonly Aviso[];
};

/** Registers an event by office. Throws an Error in Portuguese when there is no such municipality. */
export async function registrarDeOficio(
  world: RegistryWorld,
  slug: string,
  { chave, corpo, cnpj, porMao }: PedidoDoMunicipio,
): Promise<RegistradoDeOficio | { readonly faults: readonly Fault[] } | Problem> {
  const municipio = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  const json = readJson(corpo);
  if ('fault' in json) return { faults: [json.fault] };
  const read = readPedido(json, 'municipio');
  if ('faults' in read) return read;
  const own = await cnpjOf(municipio, cnpj, porMao.via === 'painel' ? 'o campo CNPJ do município' : '--cnpj');
  if ('problem' in own) return own;
  // A command has no worker to wake: another process transmits, and finds the event by polling.
  const worldHere = { wake: () => undefined, ...world };
  const asked = { pedido: read.pedido, municipio: own.cnpj, porMao };
  const registered = await registerPedido(worldHere, municipio, { chave }, asked);
  if (registered === 'not_found') return { problem: noNota(slug) };
  if ('faults' in registered) return registered;
  const { evento, avisos } = registered;
  return { evento, identificador: identificadorOf(evento), avisos };
}

/** The author: the holder of the certificate that will sign the event, or the CNPJ that the operator names. */
async function cnpjOf(
  { tenant, adn }: Municipio,
  named: string | undefined,
  field: string,
): Promise<{ cnpj: string } | Problem> {
  const cnpj = named?.replace(/[./\-\s]/g, '').toUpperCase();
  const wrong = cnpj === undefined ? undefined : whyNoCnpj(cnpj);
  if (wrong !== undefined) return { problem: `${field} ${wrong}.` };
  if (adn === undefined) {
    const problem = `O município ${tenant} não tem certificado, que diria o seu CNPJ: informe-o com ${field}.`;
    return cnpj === undefined ? { problem } : { cnpj };
  }
  const holder = await loadSigner(adn.chaves).then(
    ({ certificate }) => certificate.holder,
    (error: Error) => ({ problem: error.message }),
  );
  if (holder === undefined || 'problem' in holder) {
    // An operator without access to the service's files may still know the CNPJ.
    const why = holder?.problem ?? 'o certificado do município não traz CNPJ';
    return cnpj === undefined
      ? { problem: `${why.replace(/\.$/, '')}. Informe o CNPJ do município com ${field}.` }
      : { cnpj };
  }
  if (holder.tipo !== 'CNPJ') return { problem: 'O certificado do município é de um CPF; o autor é um CNPJ.' };
  if (cnpj === undefined) return { cnpj: holder.documento };
  if (isHeldBy(holder, cnpj)) return { cnpj };
  return {
    problem: `${field} ${cnpj} não é o do certificado com que ${tenant} assina, ${maskedDocument(holder.documento)}: o ADN recusaria o evento. Sem ele vale o do certificado.`,
  };
}

function whyNoCnpj(text: string): string | undefined {
  return whyNoDocumento(text) ?? (documentoKind(text) === 'CNPJ' ? undefined : 'é um CPF, e o do município é um CNPJ');
}
