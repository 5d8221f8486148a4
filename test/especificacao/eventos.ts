/** What each type of event is, by the table "Events" of the specification and Anexo II v1.01: one row of each table a type. */

/** Code, slug, inferred author (Endpoints), whether E9016 refuses it (D-50), whether it cancels the note (D-21), E1818. */
export const SPECIFIED = `
  101101 cancelamento                                   prestador     -        cancela -
  105102 cancelamento_por_substituicao                  prestador     -        cancela -
  101103 solicitacao_analise_fiscal_para_cancelamento   prestador     -        -       -
  105104 cancelamento_deferido_por_analise_fiscal       -             oficio   cancela -
  105105 cancelamento_indeferido_por_analise_fiscal     -             oficio   -       -
  202201 confirmacao_prestador                          prestador     -        -       soAqui
  203202 confirmacao_tomador                            tomador       -        -       soAqui
  204203 confirmacao_intermediario                      intermediario -        -       soAqui
  205204 confirmacao_tacita                             -             oficio   -       -
  202205 rejeicao_prestador                             prestador     -        -       soAqui
  203206 rejeicao_tomador                               tomador       -        -       soAqui
  204207 rejeicao_intermediario                         intermediario -        -       soAqui
  205208 anulacao_rejeicao                              -             oficio   -       -
  305101 cancelamento_por_oficio                        -             oficio   cancela -
  305102 bloqueio_por_oficio                            -             oficio   -       -
  305103 desbloqueio_por_oficio                         -             oficio   -       -`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

/** Fields of Anexo II: element, `!` required, `?` optional, and the lengths of the schema. `xDesc` stands in every type. */
export const FIELDS: Readonly<Record<string, readonly [xDesc: string, campos: string]>> = {
  '101101': ['Cancelamento de NFS-e', 'cMotivo!1-1 xMotivo!15-255'],
  '105102': ['Cancelamento de NFS-e por Substituição', 'cMotivo!2-2 xMotivo?15-255 chSubstituta!50-50'],
  '101103': ['Solicitação de Análise Fiscal para Cancelamento de NFS-e', 'cMotivo!1-1 xMotivo!15-255'],
  '105104': [
    'Cancelamento de NFS-e Deferido por Análise Fiscal',
    'CPFAgTrib!11-11 nProcAdm?1-30 cMotivo!1-1 xMotivo!15-255',
  ],
  '105105': [
    'Cancelamento de NFS-e Indeferido por Análise Fiscal',
    'CPFAgTrib!11-11 nProcAdm?1-30 cMotivo!1-1 xMotivo!15-255',
  ],
  '202201': ['Manifestação de NFS-e - Confirmação do Prestador', ''],
  '203202': ['Manifestação de NFS-e - Confirmação do Tomador', ''],
  '204203': ['Manifestação de NFS-e - Confirmação do Intermediário', ''],
  '205204': ['Manifestação de NFS-e - Confirmação Tácita', ''],
  '202205': ['Manifestação de NFS-e - Rejeição do Prestador', 'cMotivo!1-1 xMotivo?15-255'],
  '203206': ['Manifestação de NFS-e - Rejeição do Tomador', 'cMotivo!1-1 xMotivo?15-255'],
  '204207': ['Manifestação de NFS-e - Rejeição do Intermediário', 'cMotivo!1-1 xMotivo?15-255'],
  '205208': ['Manifestação de NFS-e - Anulação da Rejeição', 'CPFAgTrib!11-11 idEvManifRej!56-62 xMotivo!15-255'],
  '305101': ['Cancelamento de NFS-e por Ofício', 'CPFAgTrib!11-11 nProcAdm!1-30 xProcAdm!15-255'],
  '305102': ['Bloqueio de NFS-e por Ofício', 'CPFAgTrib!11-11 codEvento!7-7 xMotivo!15-255'],
  '305103': ['Desbloqueio de NFS-e por Ofício', 'CPFAgTrib!11-11 idBloqOfic!56-62'],
};

/** Names of the properties, in the order of the fields: the specification's, and ours (D-151). */
export const NAMES: Readonly<Record<string, string>> = {
  '101101': 'codigo_motivo_cancelamento descricao_motivo_cancelamento',
  '105102': 'codigo_motivo_cancelamento descricao_motivo_cancelamento chave_acesso_substituta',
  '101103': 'codigo_motivo_cancelamento descricao_motivo_cancelamento',
  '105104': 'cpf_agente_tributario numero_processo_administrativo codigo_motivo descricao_motivo',
  '105105': 'cpf_agente_tributario numero_processo_administrativo codigo_motivo descricao_motivo',
  '202205': 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
  '203206': 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
  '204207': 'codigo_motivo_rejeicao descricao_motivo_rejeicao',
  '205208': 'cpf_agente_tributario id_evento_rejeicao descricao_motivo',
  '305101': 'cpf_agente_tributario numero_processo_administrativo descricao_processo_administrativo',
  '305102': 'cpf_agente_tributario codigo_evento_bloqueado descricao_motivo',
  '305103': 'cpf_agente_tributario id_evento_bloqueio',
};

/** eventos.md 9: the code with which each kind is "not accepted after ..." */
export const REFUSALS: Readonly<Record<string, string>> = {
  '101101': 'E0840',
  '105102': 'E0845',
  '101103': 'E0848',
  '105104': 'E0852',
  '105105': 'E0855',
  '202201': 'E0860',
  '203202': 'E0861',
  '204203': 'E0862',
  '205204': 'E0863',
  '202205': 'E0864',
  '203206': 'E0866',
  '204207': 'E0868',
  '205208': 'E0870',
  '305101': 'E1960',
  '305102': 'E1965',
  '305103': 'E1970',
};

export const CHAVE = '35503081211222333000181000000000000126091234567895';
export const OUTRA = '35503081211222333000181000000000000226101234567890';

/** Specific groups as eventos.md tells them, section 4. */
export const GROUPS: Readonly<
  Record<string, { readonly campos: Readonly<Record<string, string>>; readonly text: string }>
> = {
  '101101': {
    campos: { codigo_motivo_cancelamento: '1', descricao_motivo_cancelamento: 'Erro no valor do serviço' },
    text: '<xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo><xMotivo>Erro no valor do serviço</xMotivo>',
  },
  '105102': {
    campos: {
      chave_acesso_substituta: OUTRA,
      codigo_motivo_cancelamento: '99',
      descricao_motivo_cancelamento: 'Descrição corrigida na outra',
    },
    text: `<xDesc>Cancelamento de NFS-e por Substituição</xDesc><cMotivo>99</cMotivo><xMotivo>Descrição corrigida na outra</xMotivo><chSubstituta>${OUTRA}</chSubstituta>`,
  },
  '101103': {
    campos: { codigo_motivo_cancelamento: '9', descricao_motivo_cancelamento: 'Outro motivo, descrito' },
    text: '<xDesc>Solicitação de Análise Fiscal para Cancelamento de NFS-e</xDesc><cMotivo>9</cMotivo><xMotivo>Outro motivo, descrito</xMotivo>',
  },
  '105104': {
    campos: {
      cpf_agente_tributario: '52998224725',
      numero_processo_administrativo: '2026000123',
      codigo_motivo: '1',
      descricao_motivo: 'Serviço não prestado',
    },
    text: '<xDesc>Cancelamento de NFS-e Deferido por Análise Fiscal</xDesc><CPFAgTrib>52998224725</CPFAgTrib><nProcAdm>2026000123</nProcAdm><cMotivo>1</cMotivo><xMotivo>Serviço não prestado</xMotivo>',
  },
  '105105': {
    campos: { cpf_agente_tributario: '52998224725', codigo_motivo: '2', descricao_motivo: 'Pedido fora do prazo' },
    text: '<xDesc>Cancelamento de NFS-e Indeferido por Análise Fiscal</xDesc><CPFAgTrib>52998224725</CPFAgTrib><cMotivo>2</cMotivo><xMotivo>Pedido fora do prazo</xMotivo>',
  },
  '202201': { campos: {}, text: '<xDesc>Manifestação de NFS-e - Confirmação do Prestador</xDesc>' },
  '203202': { campos: {}, text: '<xDesc>Manifestação de NFS-e - Confirmação do Tomador</xDesc>' },
  '204203': { campos: {}, text: '<xDesc>Manifestação de NFS-e - Confirmação do Intermediário</xDesc>' },
  '205204': { campos: {}, text: '<xDesc>Manifestação de NFS-e - Confirmação Tácita</xDesc>' },
  '202205': {
    campos: { codigo_motivo_rejeicao: '1' },
    text: '<xDesc>Manifestação de NFS-e - Rejeição do Prestador</xDesc><cMotivo>1</cMotivo>',
  },
  '203206': {
    campos: { codigo_motivo_rejeicao: '9', descricao_motivo_rejeicao: 'Não contratei este serviço' },
    text: '<xDesc>Manifestação de NFS-e - Rejeição do Tomador</xDesc><cMotivo>9</cMotivo><xMotivo>Não contratei este serviço</xMotivo>',
  },
  '204207': {
    campos: { codigo_motivo_rejeicao: '5' },
    text: '<xDesc>Manifestação de NFS-e - Rejeição do Intermediário</xDesc><cMotivo>5</cMotivo>',
  },
  '205208': {
    campos: {
      cpf_agente_tributario: '52998224725',
      id_evento_rejeicao: `EVT${CHAVE}203206001`,
      descricao_motivo: 'Rejeitada por quem não podia',
    },
    text: `<xDesc>Manifestação de NFS-e - Anulação da Rejeição</xDesc><CPFAgTrib>52998224725</CPFAgTrib><idEvManifRej>${CHAVE}203206</idEvManifRej><xMotivo>Rejeitada por quem não podia</xMotivo>`,
  },
  '305101': {
    campos: {
      cpf_agente_tributario: '52998224725',
      numero_processo_administrativo: '1',
      descricao_processo_administrativo: 'Contribuinte baixado',
    },
    text: '<xDesc>Cancelamento de NFS-e por Ofício</xDesc><CPFAgTrib>52998224725</CPFAgTrib><nProcAdm>1</nProcAdm><xProcAdm>Contribuinte baixado</xProcAdm>',
  },
  '305102': {
    campos: {
      cpf_agente_tributario: '52998224725',
      codigo_evento_bloqueado: 'e101101',
      descricao_motivo: 'Nota sob fiscalização',
    },
    text: '<xDesc>Bloqueio de NFS-e por Ofício</xDesc><CPFAgTrib>52998224725</CPFAgTrib><codEvento>e101101</codEvento><xMotivo>Nota sob fiscalização</xMotivo>',
  },
  '305103': {
    campos: { cpf_agente_tributario: '52998224725', id_evento_bloqueio: `${CHAVE}305102` },
    text: `<xDesc>Desbloqueio de NFS-e por Ofício</xDesc><CPFAgTrib>52998224725</CPFAgTrib><idBloqOfic>${CHAVE}305102</idBloqOfic>`,
  },
};
