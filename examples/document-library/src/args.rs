//! The arguments.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  library add docs/                     add all Markdown files of a folder, or what changed
  library list                          show all documents
  library show doc:user_guide:001       show a document, its chapters and its neighbours
  library read doc:user_guide:001       print its text
  library search --tag setup password   find pieces of text by a tag and a word
  library verify                        check that all relations agree

A document has chapters (#), paragraphs (##) and subparagraphs (###). The text between two
headings is a chunk. Each of them has a key that is made from its own words, such as
`ch:getting_started:001`.

Exit codes: 0 done; 1 something is wrong in the library; 2 wrong arguments or files;
3 the server cannot be asked.";

/// A library of Markdown documents on a Redis or Valkey server.
#[derive(Debug, Parser)]
#[command(name = "library", version, after_help = EXAMPLES, max_term_width = 120)]
pub struct Args {
    /// The server: redis://, rediss:// or redis+unix://
    #[arg(
        long,
        global = true,
        env = "LIBRARY_SERVER",
        hide_env_values = true,
        default_value = "redis://127.0.0.1:6379",
        value_name = "URL"
    )]
    pub server: String,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add documents, or update those that changed
    ///
    /// A document is known by the absolute path of its file. What did not change in it keeps its keys. An import that was
    /// stopped is completed by running it again; files that are stored already are skipped.
    Add(Add),
    /// List all documents in the order of their paths
    List,
    /// Show an element: where it is, what is next to it, and what is below it
    Show {
        /// The key of a document, chapter, paragraph, subparagraph or chunk
        key: String,
    },
    /// Print the text of a document, as it was in its file
    Read {
        /// The key of a document
        document: String,
    },
    /// Find documents by author or category, and headings and pieces of text by tag and words
    ///
    /// All that is given must hold. Words are looked for in titles, headings and texts themselves: whole words, in any case.
    Search(Search),
    /// Remove documents with all that belongs to them
    Remove {
        /// Keys of documents, or paths of their files
        #[arg(required = true)]
        documents: Vec<String>,
    },
    /// Check that all relations agree in both directions, and that nothing is left over
    Verify,
    /// Measure the keys: lengths, duplicates, names that say nothing, gaps in numbering
    Quality {
        /// The length above which a key is reported
        #[arg(long, default_value_t = document_library::convention::LONGEST_KEY, value_name = "CHARACTERS")]
        longest: usize,
    },
}

#[derive(Debug, ClapArgs)]
pub struct Add {
    /// Files, and folders whose files end in .md or .markdown
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Show what would be done, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How many files are added at once [default: one for each processor]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Print only the summary
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Search {
    /// Words that a heading or a piece of text has, all of them
    pub words: Vec<String>,
    /// A tag of its document
    #[arg(long)]
    pub tag: Vec<String>,
    /// An author of its document
    #[arg(long)]
    pub author: Vec<String>,
    /// A category of its document
    #[arg(long)]
    pub category: Vec<String>,
    /// How many are shown at most
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
}
