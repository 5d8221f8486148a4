/** The facts that the law needs besides the document. All of them are gathered before judging begins, so that judging is pure. */
import type { TabelaIbsCbs } from './aliquotas-ibs-cbs.ts';
import type { Ambiente } from './ambiente.ts';
import type { CadastrosFacts } from './cadastros.ts';
import type { EventoNaNota } from './conflitos-evento.ts';
import type { Decimal } from './decimal.ts';
import { isInForce, type Vigencia } from './moment.ts';
import type { NotaEstado } from './nota.ts';

/** An establishment of the municipal registry, or the one that the sandbox would create from this DPS. */
export type Prestador = {
  /** CNPJ (14) or CPF (11). */
  readonly documento: string;
  readonly razaoSocial: string;
  readonly nomeFantasia?: string | undefined;
  readonly inscricaoMunicipal?: string | undefined;
  readonly autorizado: boolean;
  readonly endereco: Endereco;
  readonly fone?: string | undefined;
  readonly email?: string | undefined;
  /** The provider's periods in the Simples Nacional (D-23), in order and without overlap. */
  readonly simples: readonly Vigencia[];
};

/** Whether a provider is in the Simples Nacional on a day `YYYY-MM-DD`, by the registry (D-23). */
export function isOptante({ simples }: Pick<Prestador, 'simples'>, data: string): boolean {
  return simples.some((periodo) => isInForce(periodo, data));
}

export type Endereco = {
  readonly xLgr: string;
  readonly nro: string;
  readonly xCpl?: string | undefined;
  readonly xBairro: string;
  readonly CEP: string;
};

/** Municipal registrations are compared without punctuation or leading zeros, as in `inscricao_comparavel` of the store. */
export function bareIm(im: string): string {
  return im.replace(/[^0-9A-Za-z]/g, '').replace(/^0+(?=.)/, '');
}

/** The address on a note if the registry knows none: every note must have one. */
export const ENDERECO_NAO_INFORMADO: Endereco = {
  xLgr: 'Endereço não informado',
  nro: 'S/N',
  xBairro: 'Centro',
  CEP: '00000000',
};

export type Facts = CadastrosFacts & {
  readonly ambiente: Ambiente;
  /** Today in the municipality's zone, `YYYY-MM-DD`. */
  readonly hoje: string;
  /** Reception of the document, in milliseconds. */
  readonly agora: number;
  readonly prestador: Prestador;
  /** Whether a national rule that the specification does not name refuses or only remarks (D-86). */
  readonly regrasNacionais: 'recusa' | 'avisa';
  /** Whether the municipality refuses a DPS without number (D-215). */
  readonly exigeNumero: boolean;
  /** Whether the municipality administers a national code at a date (D-13, E0310). */
  readonly administers: (cTribNac: string, data: string) => boolean;
  /** The entry of the municipal list at a date: undefined if the code is not in it; 'sem_lista' if the municipality has no list. */
  readonly servicoMunicipal: (cTribMun: string, data: string) => ServicoMunicipal | 'sem_lista' | undefined;
  /** ISS rate registered for the service at the competence. */
  readonly aliquotaRegistrada: (cTribNac: string, cTribMun: string | undefined, data: string) => AliquotaRegistrada;
  /** The rates of the IBS and the CBS in force, by which the note is judged. */
  readonly tabelaIbsCbs: TabelaIbsCbs;
  /** The note that the DPS replaces; undefined if it replaces none, or if no store is available. */
  readonly substituida: NotaSubstituida | undefined;
};

/**
 * `desconhecida`: no note of this service. The municipality may have issued it with another system. Nothing is then known of it, not even
 * that it does not exist.
 */
export type NotaSubstituida =
  | 'desconhecida'
  | {
      readonly estado: NotaEstado;
      /** The events that stand on it. */
      readonly eventos: readonly EventoNaNota[];
    };

/** One rate, none, or the services that the rate depends on (D-188). */
export type AliquotaRegistrada = Decimal | readonly ServicoMunicipal[] | undefined;

export type ServicoMunicipal = {
  readonly codigo: string;
  readonly descricao: string;
  readonly cTribNac: string;
  readonly cnae?: string | undefined;
  readonly aliquota?: Decimal | undefined;
};
