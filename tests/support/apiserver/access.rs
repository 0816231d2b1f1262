//! Who may do what: bearer tokens, and rules as RBAC has them.

use std::collections::BTreeMap;

use super::message::Kind;
use super::moment::quote;
use super::status::Refusal;

/// May do everything, as a member of `system:masters`.
pub(super) const ADMIN: &str = "admin-token";

/// One thing that a user may do. As in RBAC nothing is allowed but what some rule names.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `""` is the core group; `*` is every one.
    pub group: String,
    pub resource: String,
    pub verbs: Vec<String>,
    /// As a Role in that namespace; everywhere, as a ClusterRole, when there is none.
    pub namespace: Option<String>,
}

impl Rule {
    /// Everywhere: the rule of a ClusterRole.
    pub fn new(group: &str, resource: &str, verbs: &[&str]) -> Rule {
        let verbs = verbs.iter().map(|it| (*it).to_owned()).collect();
        Rule { group: group.to_owned(), resource: resource.to_owned(), verbs, namespace: None }
    }

    /// In one namespace only: the rule of a Role.
    pub fn in_namespace(self, namespace: &str) -> Rule {
        Rule { namespace: Some(namespace.to_owned()), ..self }
    }

    fn allows(&self, verb: &str, kind: &Kind, namespace: Option<&str>) -> bool {
        let named = |said: &str, asked: &str| said == "*" || said == asked;
        let here = self.namespace.as_deref().is_none_or(|it| namespace == Some(it));
        here && named(&self.group, &kind.group)
            && named(&self.resource, &kind.plural)
            && self.verbs.iter().any(|it| named(it, verb))
    }
}

/// The tokens that the server knows.
#[derive(Debug, Default)]
pub(super) struct Access {
    users: BTreeMap<String, User>,
    /// Nobody in particular may do everything: for a server that a person looks around in.
    pub(super) open: bool,
}

/// Somebody, and what they may do.
#[derive(Debug, Clone)]
pub(super) struct User {
    name: String,
    /// Everything when there are none.
    rules: Option<Vec<Rule>>,
}

impl Access {
    pub(super) fn grant(&mut self, token: &str, name: &str, rules: Vec<Rule>) {
        self.users.insert(token.to_owned(), User { name: name.to_owned(), rules: Some(rules) });
    }

    pub(super) fn revoke(&mut self, token: &str) {
        self.users.remove(token);
    }

    /// A token that nobody has is refused; none at all is the anonymous user.
    pub(super) fn user(&self, token: Option<&str>) -> Result<User, Refusal> {
        match token {
            None => Ok(User { name: "system:anonymous".to_owned(), rules: (!self.open).then(Vec::new) }),
            Some(ADMIN) => Ok(User { name: "admin".to_owned(), rules: None }),
            Some(token) => self.users.get(token).cloned().ok_or_else(Refusal::unauthorized),
        }
    }
}

impl User {
    pub(super) fn may(&self, verb: &str, kind: &Kind, namespace: Option<&str>, name: &str) -> Result<(), Refusal> {
        let allowed = match &self.rules {
            None => true,
            Some(rules) => rules.iter().any(|it| it.allows(verb, kind, namespace)),
        };
        if allowed {
            return Ok(());
        }
        let place = match namespace {
            Some(namespace) => format!("in the namespace {}", quote(namespace)),
            None => "at the cluster scope".to_owned(),
        };
        let (who, resource, group) = (quote(&self.name), quote(&kind.plural), quote(&kind.group));
        let why = format!("User {who} cannot {verb} resource {resource} in API group {group} {place}");
        Err(Refusal::forbidden(kind, name, &why))
    }
}
